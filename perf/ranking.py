#!/usr/bin/env python3
"""Whole ranking loops, to the last true alarm, on the generated graphs with their sampled truths.

    perf/ranking.py build/openmp/hornbill --graphs weblech,hedc > perf/results/NAME.jsonl
    perf/ranking.py --table perf/results/NAME.jsonl ...

The table has the time of a round that the FastLBP paper gives (an RTX 2080 Ti; 200 iterations of PARALL, and SEQFIX to convergence or 1,000
iterations), on other graphs of the same sizes.
"""
import argparse
import json
import os
import subprocess
import tempfile

GRAPHS = "weblech,hedc,luindex,jspider,avrora,xalan,sunflow,ftp"
FASTLBP = {"weblech": (0.07, 0.70), "luindex": (0.41, 4.79), "jspider": (0.57, 21.72), "avrora": (0.90, 13.67), "xalan": (1.36, 22.23), "sunflow": (3.17, 33.76), "ftp": (3.31, 32.95)}


def measure(arguments):
    with tempfile.TemporaryDirectory() as folder:
        for graph in arguments.graphs.split(","):
            file = os.path.join(folder, graph + ".h5")
            made = json.loads(subprocess.run([arguments.program, "generate", "--like", graph, file, "--json"], capture_output=True, text=True, check=True).stdout)
            command = [arguments.program, "rank", file, "--oracle", "true_alarms", "--json", *(["--backend", arguments.backend] if arguments.backend else []), *arguments.options.split()]
            ranked = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            rounds = ranked.pop("rounds")
            ranked.update({"case": "ranking", "graph": graph, "edges": made["edges"], "looked_at": len(rounds), "options": arguments.options, "commit": arguments.commit,
                           "slowest_round_seconds": max(one["seconds"] for one in rounds), "file": None})
            print(json.dumps(ranked), flush=True)


def table(files):
    print("| graph | edges | alarms | true | device | schedule | looked at (Rank-100%-T) | Rank-90%-T | inversions | area under ROC | a round | all rounds | rounds not converged | FastLBP, a round: PARALL | SEQFIX |")
    print("| " + " | ".join(["---"] * 15) + " |")
    for file in files:
        with open(file) as text:
            for line in map(json.loads, text):
                paper = [f"{seconds} s" for seconds in FASTLBP.get(line["graph"], ())] or ["", ""]
                print("| " + " | ".join(map(str, [line["graph"], f"{line['edges']:,}", f"{line['alarms']:,}", line["true"], line["device"], line["schedule"], line["rank_100_percent"], line["rank_90_percent"],
                                                  f"{line['inversions']:,}", f"{line['auc']:.3f}", f"{1e3 * line['seconds_a_round']:.3g} ms", f"{line['seconds']:.3g} s", line["unconverged_rounds"], *paper])) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", help="hornbill")
    parser.add_argument("--graphs", default=GRAPHS)
    parser.add_argument("--backend")
    parser.add_argument("--options", default="", help="further options of `hornbill rank`, in one word")
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--table", nargs="+", metavar="FILE", help="print a Markdown table of results instead")
    arguments = parser.parse_args()
    if arguments.table:
        return table(arguments.table)
    if not arguments.program:
        parser.error("the program is needed")
    measure(arguments)


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        raise SystemExit(str(error))
