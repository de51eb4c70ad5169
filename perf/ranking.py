#!/usr/bin/env python3
"""Whole ranking loops, to the last true alarm, on the generated graphs with their sampled truths; and on real clauses, with truths sampled here.

    perf/ranking.py build/openmp/hornbill --graphs weblech,hedc > perf/results/NAME.jsonl
    perf/ranking.py build/openmp/hornbill --graphs "" --folder FOLDER > perf/results/NAME.jsonl       (NAME.named_cons_all.txt and what belongs to it)
    perf/ranking.py --table perf/results/NAME.jsonl ...

The table has the time of a round that the FastLBP paper gives (an RTX 2080 Ti; 200 iterations of PARALL, and SEQFIX to convergence or 1,000
iterations; and the latter by the sequential program that it compares with), on other graphs of the same sizes.
"""
import argparse
import json
import os
import tempfile
import time

from clause_files import ask, print_header, sets_of_clauses

GRAPHS = "weblech,hedc,luindex,jspider,avrora,xalan,sunflow,ftp"
FASTLBP = {"weblech": (0.07, 0.70, 0.26), "luindex": (0.41, 4.79, 6.05), "jspider": (0.57, 21.72, 29.68), "avrora": (0.90, 13.67, 49.59), "xalan": (1.36, 22.23, 62.72),
           "sunflow": (3.17, 33.76, 144.18), "ftp": (3.31, 32.95, 277.08)}


def measure(arguments, graph, file, oracle, more):
    backend = ["--backend", arguments.backend] if arguments.backend else []
    ranked = ask(arguments.program, "rank", file, "--oracle", oracle, "--json", *backend, *arguments.options.split())
    rounds = ranked.pop("rounds")
    ranked.update({"case": "ranking", "graph": graph, "looked_at": len(rounds), "options": arguments.options, "commit": arguments.commit,
                   "slowest_round_seconds": max(one["seconds"] for one in rounds), "file": None, **more})
    print(json.dumps(ranked), flush=True)


def measure_generated(arguments, graph, folder):
    file = os.path.join(folder, graph + ".h5")
    made = ask(arguments.program, "generate", "--like", graph, file, "--json")
    measure(arguments, graph, file, "true_alarms", {"edges": made["edges"]})


def measure_clauses(arguments, files, folder):
    """From the clauses as text. The truth is one in which a rule holds less often than the model says, so that most alarms are false."""
    (name, clauses, alarms, rules), model, truth = files, os.path.join(folder, "model.h5"), os.path.join(folder, "truth.txt")
    begin = time.perf_counter()
    made = ask(arguments.program, "clauses", "model", clauses, "--alarms", alarms, "--rules", rules, "-o", model, "--json")
    seconds = time.perf_counter() - begin
    sampled = ask(arguments.program, "generate", "--oracle", model, "--probability", str(arguments.probability), "--seed", str(arguments.seed), truth, "--json")
    if sampled["true_alarms"] == 0:
        raise SystemExit(f"{name}: no alarm is true where rules hold with probability {arguments.probability}; try another --probability or --seed")
    measure(arguments, name, model, truth, {"edges": made["model"]["edges"], "clauses": made["pruned"]["clauses_before"], "clauses_seconds": seconds, "truth_probability": arguments.probability, "truth_seed": arguments.seed})


def table(files):
    print_header(["graph", "edges", "alarms", "true", "device", "schedule", "looked at (Rank-100%-T)", "Rank-90%-T", "inversions", "area under ROC", "a round", "all rounds", "rounds not converged",
                  "FastLBP, a round: PARALL", "SEQFIX", "sequential"])
    for file in files:
        with open(file) as text:
            for line in map(json.loads, text):
                paper = [f"{seconds} s" for seconds in FASTLBP.get(line["graph"], ())] or [""] * 3
                print("| " + " | ".join(map(str, [line["graph"], f"{line['edges']:,}", f"{line['alarms']:,}", line["true"], line["device"], line["schedule"], line["rank_100_percent"], line["rank_90_percent"],
                                                  f"{line['inversions']:,}", f"{line['auc']:.3f}", f"{1e3 * line['seconds_a_round']:.3g} ms", f"{line['seconds']:.3g} s", line["unconverged_rounds"], *paper])) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", help="hornbill")
    parser.add_argument("--graphs", default=GRAPHS)
    parser.add_argument("--folder", help="of clauses to rank too: every *.named_cons_all.txt in it")
    parser.add_argument("--probability", type=float, default=0.5, help="of rules, where the truth of clauses is sampled")
    parser.add_argument("--seed", type=int, default=1, help="of that truth")
    parser.add_argument("--backend")
    parser.add_argument("--options", default="", help="further options of `hornbill rank`, in one word")
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--table", nargs="+", metavar="FILE", help="print a Markdown table of results instead")
    arguments = parser.parse_args()
    if arguments.table:
        return table(arguments.table)
    if not arguments.program:
        parser.error("the program is needed")
    with tempfile.TemporaryDirectory() as folder:
        for graph in filter(None, arguments.graphs.split(",")):
            measure_generated(arguments, graph, folder)
        for files in sets_of_clauses(arguments.folder):
            measure_clauses(arguments, files, folder)


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        raise SystemExit(str(error))
