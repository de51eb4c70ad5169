#!/usr/bin/env python3
"""Time and memory of `hornbill clauses model`, from clauses as text to a factor graph: on clauses made at random, and on real ones.

    perf/clauses.py build/openmp/hornbill --sizes 10000,100000,1000000 > perf/results/NAME.jsonl
    perf/clauses.py build/openmp/hornbill --sizes "" --folder FOLDER > perf/results/NAME.jsonl      (NAME.named_cons_all.txt and what belongs to it)
    perf/clauses.py --table perf/results/NAME.jsonl ...

Random clauses: two for each derived tuple, of one to three premises, of which nine in ten are tuples shortly before; the others may be any, and
lead to cycles. One tuple in a hundred is an alarm, one in ten an input. Memory is the largest that the process held.
"""
import argparse
import json
import multiprocessing
import os
import random
import subprocess
import tempfile
import time

from clause_files import print_header, sets_of_clauses

FILES = ("clauses.txt", "alarms.txt", "rules.txt")


def make_random(folder, count, seed=1):
    """Writes clauses, alarms and rules to a folder."""
    numbers = random.Random(seed)
    derived = count // 2
    inputs = derived // 10
    names = [f"input({i},{i + 1})" for i in range(inputs)] + [f"tuple(function-{i},{i % 97})" for i in range(derived)]
    with open(os.path.join(folder, FILES[0]), "w") as out:
        for clause in range(count):
            head = inputs + clause % derived
            body = {numbers.randrange(max(0, head - 1000), head) if numbers.random() < 0.9 else numbers.randrange(len(names)) for _ in range(numbers.randint(1, 3))} - {head}
            out.write(f"R{clause % 7}: " + "".join(f"NOT {names[premise]}, " for premise in sorted(body)) + names[head] + "\n")
    with open(os.path.join(folder, FILES[1]), "w") as out:
        out.writelines(names[inputs + i] + "\n" for i in range(derived) if i % 100 == 99)
    with open(os.path.join(folder, FILES[2]), "w") as out:
        out.writelines(f"R{i}: 0.95\n" for i in range(7))


def measure(arguments, case, files):
    clauses, alarms, rules = files
    for options in arguments.options.split(","):
        with tempfile.TemporaryDirectory() as folder:
            report = os.path.join(folder, "report.json")
            with open(report, "w") as out:
                begin = time.perf_counter()
                process = subprocess.Popen([arguments.program, "clauses", "model", clauses, "--alarms", alarms, "--rules", rules, "-o", os.path.join(folder, "model.h5"), "--json", *options.split()], stdout=out)
                _, status, usage = os.wait4(process.pid, 0)
                seconds = time.perf_counter() - begin
            with open(report) as text:
                line = json.load(text) if status == 0 else {"error": os.waitstatus_to_exitcode(status)}
        line.update({"case": "clauses", "clauses": case, "options": options, "text_bytes": os.path.getsize(clauses), "seconds": seconds, "resident_bytes": usage.ru_maxrss * 1024, "file": None, "commit": arguments.commit})
        print(json.dumps(line), flush=True)


def table(files):
    print_header(["clauses", "text", "options", "time", "memory", "of the text", "pruned to", "compressed to", "variables", "edges"])
    for file in files:
        with open(file) as text:
            for line in map(json.loads, text):
                if "error" in line:
                    print(f"| {line['clauses']} | | {line['options']} | failed with exit code {line['error']} | | | | | | |")
                    continue
                compressed = line.get("compressed", {}).get("clauses")
                print(f"| {line['clauses']} | {line['text_bytes'] / 1e6:.3g} MB | {line['options']} | {line['seconds']:.3g} s | {line['resident_bytes'] / 1e6:.4g} MB | {line['resident_bytes'] / line['text_bytes']:.1f} times"
                      f" | {line['pruned']['clauses']:,} | {'' if compressed is None else format(compressed, ',')} | {line['model']['variables']:,} | {line['model']['edges']:,} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", help="hornbill")
    parser.add_argument("--sizes", default="10000,100000,1000000")
    parser.add_argument("--folder", help="of clauses to measure too: every *.named_cons_all.txt in it")
    parser.add_argument("--options", default=",--augment", help="variants of the command, separated by commas")
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--table", nargs="+", metavar="FILE", help="print a Markdown table of results instead")
    arguments = parser.parse_args()
    if arguments.table:
        return table(arguments.table)
    if not arguments.program:
        parser.error("the program is needed")
    for size in filter(None, arguments.sizes.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            # By a process of its own: what this one ever held would count as held by its children.
            make = multiprocessing.get_context("spawn").Process(target=make_random, args=(folder, int(size)))
            make.start()
            make.join()
            measure(arguments, f"{int(size):,} random", [os.path.join(folder, name) for name in FILES])
    for name, *files in sets_of_clauses(arguments.folder):
        measure(arguments, name, files)


if __name__ == "__main__":
    main()
