#!/usr/bin/env python3
"""What converges under evidence: graphs with sampled labels through `hornbill lbp`, by schedule and damping. One JSON object a line.

    perf/convergence.py build/openmp/hornbill > perf/results/NAME.jsonl
    perf/convergence.py build/openmp/hornbill --clauses ../shared/data/clauses     minigzip, with the distance to exact marginals
    perf/convergence.py build/openmp/hornbill --clauses ../shared/data/clauses --write .    its model and alarms, for perf_rounds

`perf/tables.py --convergence FILE` makes tables of them.
"""
import argparse
import itertools
import json
import os
import random
import re
import subprocess
import sys
import tempfile

METHODS = "seqfix:0,seqfix:0.5,seqfix:auto,chromatic:auto,parall:0,parall:auto"


def run_lbp(program, file, evidence, method, limit, extra):
    schedule, damping = method.split(":")
    command = [program, "lbp", file, "--schedule", schedule, "--damping", damping, "--iterations", str(limit), "--json", *extra]
    command += ["--evidence", evidence] if evidence else []
    done = subprocess.run(command, capture_output=True, text=True)
    line = json.loads(done.stdout) if done.stdout else {"error": done.stderr.strip()}
    line.pop("file", None)
    for large in ("marginals", "names", "states"):
        line.pop(large, None)
    line.update(case="convergence", schedule=schedule, damping=damping, limit=limit)
    return line


def generated(arguments, folder, report):
    """Fresh graphs of the benchmarks' sizes; each has ten and fifty of its alarms labelled by a sampled truth, where it has as many."""
    for graph, seed in itertools.product(arguments.graphs.split(","), range(1, arguments.seeds + 1)):
        file = os.path.join(folder, "graph.h5")
        subprocess.run([arguments.program, "generate", "--like", graph, "--edges", arguments.edges, "--seed", str(seed), file],
                       check=True, stdout=subprocess.DEVNULL)
        for labels, method in itertools.product(("labels10", "labels50"), arguments.methods.split(",")):
            line = run_lbp(arguments.program, file, labels, method, arguments.limit, arguments.extra)
            if "no" in line.get("error", "") and "evidence set" in line["error"]:
                break  # too few alarms for fifty labels
            report(line, graph=graph, sizes=arguments.edges, seed=seed, evidence=labels)


def read_clauses(path):
    with open(path) as text:
        for line in text:
            rule, literals = line.strip().split(": ", 1)
            literals = re.split(r", ", literals)
            yield rule, [l[4:] for l in literals if l.startswith("NOT ")], next(l for l in literals if not l.startswith("NOT "))


def write_minigzip(folder, data):
    """The factor graph of the pruned clauses, one AND a clause and one OR a tuple; inputs are certain. Returns file and variables by name."""
    with open(os.path.join(data, "minigzip.rule-prob.txt")) as text:
        probability = dict(line.strip().split(": ") for line in text if line.strip())
    clauses = list(read_clauses(os.path.join(data, "minigzip.named_cons_pruned.txt")))
    tuples = {}
    for _, _, head in clauses:
        tuples.setdefault(head, len(tuples))
    derived_by = [[] for _ in tuples]
    factors = []
    for i, (rule, premises, head) in enumerate(clauses):
        body = sorted({tuples[p] for p in premises if p in tuples})
        factors.append(f"{len(tuples) + i}\n*{probability[rule]}\n{len(body)}\n{' '.join(map(str, body))}\n")
        derived_by[tuples[head]].append(len(tuples) + i)
    for t, by in enumerate(derived_by):
        factors.append(f"{t}\n+\n{len(by)}\n{' '.join(map(str, by))}\n")
    file = os.path.join(folder, "minigzip.causal_fg")
    with open(file, "w") as out:
        out.write(f"{len(factors)}\n\n" + "\n".join(factors))
    return file, tuples


def read_marginals(path):
    with open(path) as text:
        words = text.read().split()
    return [float(p) for p in words[4::3]]  # MAR, count, then `2 P(0) P(1)` a variable


def write_alarms(folder, data, tuples):
    """The alarms in random order, as evidence that all are true; perf_rounds --draw asks for the variables alone."""
    with open(os.path.join(data, "minigzip.alarms.txt")) as text:
        alarms = sorted(tuples[name] for name in (line.split()[1] for line in text) if name in tuples)
    random.Random(1).shuffle(alarms)
    with open(os.path.join(folder, "minigzip.alarms"), "w") as out:
        out.writelines(f"{v} 1\n" for v in alarms)


def minigzip(arguments, folder, report):
    file, tuples = write_minigzip(folder, arguments.clauses)
    with open(os.path.join(arguments.clauses, "minigzip.vars.tsv")) as text:
        reference = {name: int(i) for i, name in (line.rstrip("\n").split("\t") for line in text)}
    for labels in ("prior", "fb1", "fb2"):
        exact = read_marginals(os.path.join(arguments.clauses, f"minigzip.{labels}.MAR"))
        libdai = read_marginals(os.path.join(arguments.clauses, f"minigzip.{labels}.BP.MAR"))
        evidence = None
        if labels != "prior":
            with open(os.path.join(arguments.clauses, f"minigzip.{labels}.evid")) as text:
                words = list(map(int, text.read().split()))
            names = {i: name for name, i in reference.items()}
            evidence = os.path.join(folder, labels)
            with open(evidence, "w") as out:
                out.writelines(f"{tuples[names[v]]} {x}\n" for v, x in zip(words[1::2], words[2::2]))
        for method in arguments.methods.split(","):
            line = run_lbp(arguments.program, file, evidence, method, arguments.limit, ["--top", "all", "--count", "1000000", *arguments.extra])
            if "top" not in line:
                report(line, graph="minigzip", sizes="clauses", seed=None, evidence=labels)
                continue
            p_true = {entry["variable"]: entry["p_true"] for entry in line.pop("top")}

            def distances(other):
                each = [abs(p_true[t] - other[reference[name]]) for name, t in tuples.items() if name in reference]
                return max(each), sum(each) / len(each)

            (to_exact, mean), (to_libdai, _) = distances(exact), distances(libdai)
            report(line, graph="minigzip", sizes="clauses", seed=None, evidence=labels, largest_distance_to_exact=to_exact,
                   mean_distance_to_exact=mean, largest_distance_to_libdai_bp=to_libdai)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the built `hornbill`")
    parser.add_argument("--graphs", default="weblech,hedc,luindex", help="comma-separated; default %(default)s")
    parser.add_argument("--edges", default="bn", help="how to read the benchmarks' sizes, bn or fg")
    parser.add_argument("--seeds", type=int, default=3, help="graphs of each size; default %(default)s")
    parser.add_argument("--methods", default=METHODS, help="schedule:damping, comma-separated; default %(default)s")
    parser.add_argument("--limit", type=int, default=3000, help="most iterations; default %(default)s")
    parser.add_argument("--clauses", help="folder with minigzip's clauses and exact marginals: measure these instead")
    parser.add_argument("--write", metavar="FOLDER", help="with --clauses: write minigzip.causal_fg and minigzip.alarms there, and measure nothing")
    parser.add_argument("--commit", default=None, help="the commit that was built")
    parser.add_argument("--backend", help="default: the program's own")
    arguments = parser.parse_args()
    if arguments.write:
        _, tuples = write_minigzip(arguments.write, arguments.clauses)
        return write_alarms(arguments.write, arguments.clauses, tuples)
    arguments.extra = ["--backend", arguments.backend] if arguments.backend else []

    def report(line, **more):
        print(json.dumps({**line, **more, "commit": arguments.commit}), flush=True)

    with tempfile.TemporaryDirectory() as folder:
        (minigzip if arguments.clauses else generated)(arguments, folder, report)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except OSError as error:
        sys.exit(str(error))
