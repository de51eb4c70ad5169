#!/usr/bin/env python3
"""Programs with marked defects: which of them `hornbill analyse` finds, and what it takes for one that is none.

Usage: defects.py PROGRAM CLANG [--beside]

A line of a defect ends with `// BAD kind`, one that is known to be taken for one with `// FALSE kind`, and a defect that
is known to be missed has `// MISSED kind`. The test fails where the alarms are others than the marks say. With --beside,
Clang's analyser and cppcheck look at the same files; all three are counted by lines, in functions and kinds.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

FOLDER = os.path.dirname(os.path.abspath(__file__))
KINDS = {"null": "null", "free": "free", "taint": "taint"}  # files, and the clients that look for their defects
FLAGS = ["-g", "-O1", "-Xclang", "-disable-llvm-passes", "-w", "-c", "-emit-llvm"]


def marks(name):
    """Lines by mark: BAD, MISSED and FALSE."""
    found = {"BAD": set(), "MISSED": set(), "FALSE": set()}
    with open(os.path.join(FOLDER, f"{name}.c"), encoding="utf-8") as source:
        for number, line in enumerate(source, 1):
            mark = re.search(r"// (BAD|MISSED|FALSE) \w+$", line)
            if mark:
                found[mark[1]].add(number)
    return found


def alarms_of_hornbill(program, clang, name, client):
    """Lines with alarms."""
    with tempfile.TemporaryDirectory() as folder:
        bitcode, model = os.path.join(folder, "program.bc"), os.path.join(folder, "model.h5")
        subprocess.run([clang, *FLAGS, f"{name}.c", "-o", bitcode], check=True, cwd=FOLDER)
        subprocess.run([program, "analyse", bitcode, "--client", client, "-o", model], check=True, capture_output=True)
        listed = subprocess.run([program, "lbp", model, "--top", "alarms", "--count", "1000", "--json"], check=True, capture_output=True)
    return {int(alarm["name"].split(":")[1]) for alarm in json.loads(listed.stdout)["top"]}


def alarms_of_clang(clang, name):
    checkers = "core.NullDereference,core.NonNullParamChecker,unix.Malloc,unix.cstring.NullArg,alpha.unix.Stream,alpha.security.taint"
    done = subprocess.run([clang, "--analyze", "-Xclang", f"-analyzer-checker={checkers}", "-Xclang", "-analyzer-output=text", f"{name}.c"],
                          capture_output=True, text=True, cwd=FOLDER, check=False)
    # Memory that is not freed is another kind of defect.
    wanted = (line for line in done.stderr.splitlines() if ": warning: " in line and "leak" not in line)
    return {int(line.split(":")[1]) for line in wanted}


def alarms_of_cppcheck(name):
    done = subprocess.run(["cppcheck", "--enable=warning", "--inconclusive", "--template={id}:{line}", f"{name}.c"],
                          capture_output=True, text=True, cwd=FOLDER, check=False)
    wanted = ("nullPointer", "deallocuse", "doubleFree", "useClosedFile", "ctunullpointer")
    found = (line.split(":") for line in done.stderr.splitlines() if line.startswith(wanted))
    return {int(number) for _, number in found}


def report(tool, name, lines, bad):
    print(f"  {name:<6} {tool:<10} {len(lines & bad):>3} of {len(bad)} found, {len(lines - bad):>3} lines without one")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("clang")
    parser.add_argument("--beside", action="store_true")
    arguments = parser.parse_args()
    if not shutil.which(arguments.clang):
        print(f"skipped: {arguments.clang} is not here")
        return 77
    program = os.path.abspath(arguments.program)
    is_wrong = False
    for name, client in KINDS.items():
        marked = marks(name)
        bad = marked["BAD"] | marked["MISSED"]
        lines = alarms_of_hornbill(program, arguments.clang, name, client)
        report("hornbill", name, lines, bad)
        for number in sorted(marked["BAD"] - lines):
            print(f"{name}.c:{number}: a defect is not found")
        for number in sorted(lines - marked["BAD"] - marked["FALSE"]):
            print(f"{name}.c:{number}: an alarm where the marks have none")
        for number in sorted(marked["FALSE"] - lines):
            print(f"{name}.c:{number}: marked as a false alarm, and there is none")
        is_wrong = is_wrong or lines != marked["BAD"] | marked["FALSE"]
        if arguments.beside:
            report("clang", name, alarms_of_clang(arguments.clang, name), bad)
            if shutil.which("cppcheck"):
                report("cppcheck", name, alarms_of_cppcheck(name), bad)
    return 1 if is_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
