#!/usr/bin/env python3
"""Marginals side by side with those of the extended libDAI and of long-double arithmetic, without labels, with ten and with fifty.

    perf/libdai.py build/openmp/hornbill FOLDER > perf/results/NAME.jsonl      FOLDER has graphs/ and marginals/libdai/, marginals/longdouble/
    perf/libdai.py --table perf/results/NAME.jsonl

Of each graph: the same iteration (SEQFIX, undamped) after 5, 20 and 200 iterations, where all three can be told apart; what `hornbill serve` answers to
BINGO's `BP 1e-6 500 1000 100`, beside libDAI's newBelief; and a converged run, as `hornbill lbp` does it by default.
"""
import argparse
import json
import lzma
import os
import subprocess
import tempfile

GRAPHS, LABELS = ("weblech-fgn", "weblech", "hedc"), ("none", "ev10", "ev50")
AFTER = (1, 5, 20, 200)


def columns(file):
    """Columns of a table of marginals, without that of variables."""
    with lzma.open(file, "rt") as text:
        rows = [list(map(float, line.split()[1:])) for line in text if not line.startswith("#")]
    return list(zip(*rows))


def difference(one, other):
    return max(abs(x - y) for x, y in zip(one, other, strict=True))


def lbp(program, model, evidence, *options):
    command = [program, "lbp", model, "--top", "all", "--count", "1000000", "--json", *(["--evidence", evidence] if evidence else []), *options]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 4):
        raise SystemExit(done.stderr)
    result = json.loads(done.stdout)
    return result, [one["p_true"] for one in sorted(result["top"], key=lambda one: one["variable"])]


def serve(program, model, evidence, num_variables):
    """BINGO's question after its labels: the answers to Q of all variables."""
    commands = []
    if evidence:
        with open(evidence) as text:
            commands = [f"O {variable} {'true' if value == '1' else 'false'}" for variable, value in map(str.split, text)]
    commands += ["BP 1e-6 500 1000 100", *(f"Q {v}" for v in range(num_variables))]
    done = subprocess.run([program, "serve", model], input="\n".join(commands) + "\n", capture_output=True, text=True, check=True)
    return [float(answer.split()[-1]) for answer in done.stdout.splitlines()[-num_variables:]]


def compare(arguments, graph, labels, folder):
    data = arguments.folder
    model, evidence = os.path.join(folder, graph + ".causal_fg"), os.path.join(data, "graphs", f"{graph}.{labels}") if labels != "none" else None
    with lzma.open(os.path.join(data, "graphs", graph + ".causal_fg.xz")) as packed, open(model, "wb") as out:
        out.write(packed.read())
    libdai, truth = (columns(os.path.join(data, "marginals", where, f"{graph}.SEQFIX.{labels}.txt.xz")) for where in ("libdai", "longdouble"))
    line = {"case": "libdai", "graph": graph, "labels": labels, "commit": arguments.commit, "iterations": {}}
    for iterations, theirs, exact in zip(AFTER, libdai, truth, strict=True):
        ours = lbp(arguments.program, model, evidence, "--schedule", "seqfix", "--damping", "0", "--tolerance", "0", "--iterations", str(iterations))[1]
        line["iterations"][iterations] = {"ours_to_long_double": difference(ours, exact), "libdai_to_long_double": difference(theirs, exact)}
    result, converged = lbp(arguments.program, model, evidence, "--schedule", "seqfix")
    line.update({"converged": result["converged"], "converged_after": result["iterations"], "converged_to_libdai": difference(converged, libdai[AFTER.index(200)])})
    bingo = os.path.join(data, "marginals", "libdai", f"{graph}.SEQFIX.{labels}.bingo.txt.xz")
    if os.path.exists(bingo):
        beliefs = columns(bingo)[0]
        line["serve_to_new_belief"] = difference(serve(arguments.program, model, evidence, len(beliefs)), beliefs)
    print(json.dumps(line), flush=True)


def table(files):
    print("| graph | labels | " + " | ".join(f"after {n}: ours to long double | libDAI to it" for n in AFTER[1:]) + " | `serve` to newBelief | converges | to libDAI after 200 |")
    print("| " + " | ".join(["---"] * 11) + " |")
    for file in files:
        with open(file) as text:
            for line in map(json.loads, text):
                cells = [f"{line['iterations'][str(n)][key]:.0e}" for n in AFTER[1:] for key in ("ours_to_long_double", "libdai_to_long_double")]
                served = f"{line['serve_to_new_belief']:.0e}" if "serve_to_new_belief" in line else ""
                print(f"| {line['graph']} | {line['labels'].removeprefix('ev').replace('none', '0')} | {' | '.join(cells)} | {served} | {line['converged_after'] if line['converged'] else 'no'} | {line['converged_to_libdai']:.0e} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", help="hornbill")
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--table", nargs="+", metavar="FILE", help="print a Markdown table of results instead")
    arguments = parser.parse_args()
    if arguments.table:
        return table(arguments.table)
    if not arguments.folder:
        parser.error("the program and the folder are needed")
    with tempfile.TemporaryDirectory() as folder:
        for graph in GRAPHS:
            for labels in LABELS:
                compare(arguments, graph, labels, folder)


if __name__ == "__main__":
    main()
