#!/usr/bin/env python3
"""From bitcode to ranked alarms, program by program.

    perf/alarms.py build/openmp/hornbill lua=lua.0.0.preopt.bc gzip=gzip.0.0.preopt.bc > perf/results/NAME.jsonl
    perf/alarms.py build/openmp/hornbill --ranking 3 lua=lua.0.0.preopt.bc >> perf/results/NAME.jsonl
    perf/alarms.py --table perf/results/NAME.jsonl ...

A program is a name and its bitcode, or several files with commas. Times are of one process on one thread, the smallest of --repeat. With --ranking N the truth
is sampled N times from the model, and four orders of inspection are compared: that of `rank`, which asks label after label; that of the first
marginals; that of the depth of derivations; and chance, of which the expectation is known. An order is measured by the mean place of true alarms, and by
how many alarms are looked at until all true ones are found.
"""
import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time

CLIENTS = ("null", "free", "taint")


def ask(program, *arguments):
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return json.loads(subprocess.run([program, *map(str, arguments), "--json"], check=True, capture_output=True, text=True, env=environment).stdout)


def measure(arguments, name, files, folder):
    model = os.path.join(folder, name + ".h5")
    best = None
    for _ in range(arguments.repeat):
        begin = time.perf_counter()
        made = ask(arguments.program, "analyse", *files, "-o", model)
        analysed = time.perf_counter()
        ask(arguments.program, "lbp", model, "--top", "alarms", "--count", 10)
        made["first_alarms_seconds"] = time.perf_counter() - begin
        made["to_clauses_seconds"] = made["points_to_seconds"] + sum(made["clients"][c]["seconds"] for c in CLIENTS) + made["derivation_seconds"]
        made["analyse_seconds"] = analysed - begin
        if best is None or made["first_alarms_seconds"] < best["first_alarms_seconds"]:
            best = made
    best.update({"case": "alarms", "program": name, "commit": arguments.commit, "file": None})
    print(json.dumps(best), flush=True)
    return model


def literals(line):
    """The rule's premises and conclusion: names in quotes have commas, backslashes and quotes of their own."""
    found, word, quoted, i = [], "", False, 0
    while i < len(line):
        c = line[i]
        if c == '"' and (quoted or word in ("", "NOT ")):
            quoted = not quoted
        elif c == "\\" and quoted:
            i += 1
            word += line[i]
        elif not quoted and line.startswith(", ", i):
            found.append(word)
            word, i = "", i + 1
        else:
            word += c
        i += 1
    return found + [word]


def depths(file):
    """Of each tuple the least number of steps to it."""
    clauses = []
    with open(file, encoding="utf-8") as text:
        for line in text:
            *body, head = literals(line.rstrip("\n").split(": ", 1)[1])
            clauses.append((head, [premise.removeprefix("NOT ") for premise in body]))
    heads = {head for head, _ in clauses}
    depth = {}
    changed = True
    while changed:
        changed = False
        for head, body in clauses:
            known = [depth.get(premise, 0 if premise not in heads else None) for premise in body]
            if None not in known and 1 + max(known, default=0) < depth.get(head, float("inf")):
                depth[head] = 1 + max(known, default=0)
                changed = True
    return depth


def places(order, true):
    found = [place for place, alarm in enumerate(order, 1) if alarm in true]
    return {"mean_place": statistics.fmean(found), "last_place": found[-1]}


def rank(arguments, name, files, folder, seed):
    model, clauses, truth = (os.path.join(folder, name + ending) for ending in (".h5", ".txt", ".true"))
    ask(arguments.program, "analyse", *files, "-o", model, "--clauses", clauses)
    ask(arguments.program, "generate", "--oracle", model, "--seed", seed, truth)
    with open(truth, encoding="utf-8") as text:
        true = {literals(line.rstrip("\n"))[0] if line.startswith('"') else line.rstrip("\n") for line in text if line.strip()}
    first = [one["name"] for one in ask(arguments.program, "lbp", model, "--top", "alarms", "--count", 1000000)["top"]]
    assert true <= set(first)
    depth = depths(clauses)
    ranked = ask(arguments.program, "rank", model, "--oracle", truth)
    inspected = [one["name"] for one in ranked["rounds"]]
    rest = [alarm for alarm in first if alarm not in set(inspected)]
    by_chance = {"mean_place": (len(first) + 1) / 2, "last_place": len(true) * (len(first) + 1) / (len(true) + 1)}
    print(json.dumps({"case": "alarm ranking", "program": name, "seed": seed, "alarms": len(first), "true": len(true), "commit": arguments.commit,
                      "labels": places(inspected + rest, true), "marginals": places(first, true), "seconds_a_round": ranked["seconds_a_round"],
                      "depth": places(sorted(first, key=lambda alarm: (depth[alarm], alarm)), true), "chance": by_chance}), flush=True)


def table(files):
    lines = [json.loads(line) for file in files for line in open(file, encoding="utf-8")]
    measured = [line for line in lines if line["case"] == "alarms"]
    if measured:
        print("| program | alarms: null | free | taint | clauses | points-to facts | extract | to clauses | to the first ten alarms |\n| " + "--- | " * 9)
    for line in measured:
        counts = [f"{line['clients'][client]['alarms']:,}" for client in CLIENTS]
        seconds = [f"{line[key]:.2f} s" for key in ("extract_seconds", "to_clauses_seconds", "first_alarms_seconds")]
        print("| " + " | ".join([line["program"], *counts, f"{line['clauses']:,}", f"{line['points_to_facts']:,}", *seconds]) + " |")
    ranked = [line for line in lines if line["case"] == "alarm ranking"]
    if ranked:
        print("| program | alarms | truths | true | mean place: labels | marginals | depth | chance | last place: labels | marginals | depth | chance | a round |\n| " + "--- | " * 13)
    for program in dict.fromkeys(line["program"] for line in ranked):
        of = [line for line in ranked if line["program"] == program]
        means = [f"{statistics.fmean(line[order][key] for line in of):,.0f}" for key in ("mean_place", "last_place") for order in ("labels", "marginals", "depth", "chance")]
        print("| " + " | ".join([program, f"{of[0]['alarms']:,}", str(len(of)), f"{statistics.fmean(line['true'] for line in of):,.0f}", *means,
                                 f"{1e3 * statistics.fmean(line['seconds_a_round'] for line in of):.3g} ms"]) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", help="hornbill")
    parser.add_argument("bitcode", nargs="*", metavar="NAME=FILE")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--ranking", type=int, metavar="N", help="sample N truths, and rank")
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--table", nargs="+", metavar="FILE", help="print Markdown tables of results instead")
    arguments = parser.parse_intermixed_args()
    if arguments.table:
        return table(arguments.table)
    if not arguments.program or not arguments.bitcode:
        parser.error("the program and bitcode are needed")
    with tempfile.TemporaryDirectory() as folder:
        for name, files in (one.split("=", 1) for one in arguments.bitcode):
            if arguments.ranking is None:
                measure(arguments, name, files.split(","), folder)
            for seed in range(1, (arguments.ranking or 0) + 1):
                rank(arguments, name, files.split(","), folder, seed)


if __name__ == "__main__":
    main()
