#!/usr/bin/env python3
"""Programs with marked defects: which of them `hornbill analyse` finds, and what it takes for one that is none.

Usage: defects.py PROGRAM CLANG [--beside]

A line of a defect ends with `// BAD kind`, one that is known to be taken for one with `// FALSE kind`, and a defect that
is known to be missed has `// MISSED kind`. The test fails where the alarms are others than the marks say. With --beside,
Clang's analyser and cppcheck look at the same files; all three are counted by lines, in functions and kinds.
"""
import argparse
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import flows

FOLDER = os.path.dirname(os.path.abspath(__file__))
FILES = {  # of each client; the last one is written by flows.py
    "null": ["null", "null_values", "null_calls", "null_choices", "null_flags", "null_members", "null_flows"],
    "free": ["free", "free_hooks", "free_loops", "free_owners", "free_callbacks", "free_elements", "free_lists", "free_members", "free_flows"],
    "taint": ["taint", "taint_paths", "taint_numbers", "taint_bounds", "taint_library", "taint_flows"],
}
FLAGS = ["-g", "-O1", "-Xclang", "-disable-llvm-passes", "-w", "-c", "-emit-llvm"]


def marks(path, client):
    """Lines by mark: BAD, MISSED and FALSE."""
    found = {"BAD": set(), "MISSED": set(), "FALSE": set()}
    with open(path, encoding="utf-8") as source:
        for number, line in enumerate(source, 1):
            mark = re.search(r"// (BAD|MISSED|FALSE) (\w+)$", line)
            if mark and mark[2] != client:
                sys.exit(f"{path}:{number}: the mark is of {mark[2]}, not {client}")
            if mark:
                found[mark[1]].add(number)
    return found


def alarms_of_hornbill(program, clang, path, client):
    """Lines with alarms."""
    with tempfile.TemporaryDirectory() as folder:
        bitcode, model = os.path.join(folder, "program.bc"), os.path.join(folder, "model.h5")
        subprocess.run([clang, *FLAGS, path, "-o", bitcode], check=True)
        subprocess.run([program, "analyse", bitcode, "--client", client, "-o", model], check=True, capture_output=True)
        listed = subprocess.run([program, "lbp", model, "--top", "alarms", "--count", "1000", "--json"], check=True, capture_output=True)
    return {int(alarm["name"].split(":")[1]) for alarm in json.loads(listed.stdout)["top"]}


def alarms_of_clang(clang, path):
    checkers = "core.NullDereference,core.NonNullParamChecker,unix.Malloc,unix.cstring.NullArg,alpha.unix.Stream,alpha.security.taint"
    done = subprocess.run([clang, "--analyze", "-Xclang", f"-analyzer-checker={checkers}", "-Xclang", "-analyzer-output=text", path],
                          capture_output=True, text=True, cwd=os.path.dirname(path), check=False)
    # Memory that is not freed is another kind of defect.
    wanted = (line for line in done.stderr.splitlines() if ": warning: " in line and "leak" not in line)
    return {int(line.split(":")[1]) for line in wanted}


def alarms_of_cppcheck(path):
    done = subprocess.run(["cppcheck", "--enable=warning", "--inconclusive", "--template={id}:{line}", path],
                          capture_output=True, text=True, check=False)
    wanted = ("nullPointer", "deallocuse", "doubleFree", "useClosedFile", "ctunullpointer")
    found = (line.split(":") for line in done.stderr.splitlines() if line.startswith(wanted))
    return {int(number) for _, number in found}


class Counts:
    """Of a tool and a client: defects found, all defects, and lines without one."""
    def __init__(self):
        self.found = self.defects = self.others = 0

    def add(self, lines, bad):
        self.found += len(lines & bad)
        self.defects += len(bad)
        self.others += len(lines - bad)


def compare(name, lines, marked):
    """Prints where alarms are others than marks say, and returns whether any is."""
    for number in sorted(marked["BAD"] - lines):
        print(f"{name}:{number}: a defect is not found")
    for number in sorted(lines - marked["BAD"] - marked["FALSE"]):
        print(f"{name}:{number}: an alarm where the marks have none")
    for number in sorted(marked["FALSE"] - lines):
        print(f"{name}:{number}: marked as a false alarm, and there is none")
    return lines != marked["BAD"] | marked["FALSE"]


def paths_of(client, folder):
    """Files of a client; those that are generated are written to a folder."""
    for name in FILES[client]:
        if not name.endswith("_flows"):
            yield os.path.join(FOLDER, f"{name}.c")
            continue
        path = os.path.join(folder, f"{name}.c")
        with open(path, "w", encoding="utf-8") as source:
            source.write(flows.program(client))
        yield path


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
    for client in FILES:
        counts = collections.defaultdict(Counts)
        with tempfile.TemporaryDirectory() as folder:
            for path in paths_of(client, folder):
                marked = marks(path, client)
                bad = marked["BAD"] | marked["MISSED"]
                lines = alarms_of_hornbill(program, arguments.clang, path, client)
                counts["hornbill"].add(lines, bad)
                is_wrong = compare(os.path.basename(path), lines, marked) or is_wrong
                if arguments.beside:
                    counts["clang"].add(alarms_of_clang(arguments.clang, path), bad)
                    if shutil.which("cppcheck"):
                        counts["cppcheck"].add(alarms_of_cppcheck(path), bad)
        for tool, count in counts.items():
            print(f"  {client:<6} {tool:<10} {count.found:>3} of {count.defects} found, {count.others:>3} lines without one")
    return 1 if is_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
