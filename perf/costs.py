#!/usr/bin/env python3
"""Least costs of .wcsp files: exactly where that fits, bounds by mini-buckets, and toulbar2 beside them. JSON lines.

    perf/costs.py build/openmp/hornbill FILE.wcsp ... > mine.jsonl
    perf/costs.py --table mine.jsonl ...              the lines as a table
    perf/costs.py --ratios mine.jsonl ...             what both found, and how their times compare: of a machine whose times mean little

Times are what each program says that it took, without start and reading: Hornbill's order, plan, copies and elimination; toulbar2's search.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys

from tables import print_table, read_lines, seconds


def hornbill(program, file, *options):
    """What `hornbill map` answers, or why it does not."""
    done = subprocess.run([program, "map", file, "--json", *options], capture_output=True, text=True)
    return json.loads(done.stdout) if done.stdout else {"error": done.stderr.strip()}


def exactly(answer):
    if "error" in answer:
        return {"exact_error": answer["error"]}
    return {"optimum": answer["minimum"], "width": answer["width"], "table_bytes": answer["table_bytes"], "slices": answer["slices"], "exact_seconds": answer["order_seconds"] + answer["seconds"], "device": answer["device"]}


def bounded(answer):
    if "error" in answer:
        return {"bounds_error": answer["error"]}
    return {"width": answer["width"], "lower_bound": answer["lower_bound"], "upper_bound": answer["upper_bound"], "z": answer["mini_buckets"], "stop": answer["stop"],
            "bounds_seconds": answer["order_seconds"] + answer["seconds"], "device": answer["device"]}


def toulbar2(program, file, limit):
    """One thread, as it is by default."""
    text = subprocess.run([program, file, f"-timer={limit}"], capture_output=True, text=True).stdout
    if done := re.search(r"Optimum: (\d+) in .* and ([\d.]+) seconds", text):
        return {"toulbar2_optimum": int(done[1]), "toulbar2_seconds": float(done[2])}
    gaps = re.findall(r"Optimality gap: \[(\d+), (\d+)\]", text)
    return {"toulbar2_lower_bound": int(gaps[-1][0]), "toulbar2_upper_bound": int(gaps[-1][1])} if gaps else {"toulbar2_error": text.strip().splitlines()[-1] if text.strip() else "no output"}


def measure(arguments, file):
    common = ["--tries", str(arguments.tries)] + (["--backend", arguments.backend] if arguments.backend else []) + (["--memory-limit", str(arguments.memory_limit)] if arguments.memory_limit else [])
    line = {"case": "costs", "model": os.path.basename(file).removesuffix(".wcsp"), "commit": arguments.commit, "time_limit": arguments.time_limit}
    line |= bounded(hornbill(arguments.program, file, "--bound-gap", "0", "--time-limit", str(arguments.time_limit), "--match-moments", "--partition-by", arguments.partition_by, *common))
    line |= exactly(hornbill(arguments.program, file, *common))
    if arguments.toulbar2:
        line |= toulbar2(arguments.toulbar2, file, arguments.time_limit)
    return line


def between(row, low, high):
    return f"{row[low]} to {row[high]}" if low in row else "none"


def peer(row):
    """What toulbar2 found, and how much longer it took than elimination."""
    its = f"{row['toulbar2_optimum']}" if "toulbar2_optimum" in row else between(row, "toulbar2_lower_bound", "toulbar2_upper_bound")
    if "optimum" not in row or not ("toulbar2_optimum" in row or "toulbar2_lower_bound" in row):
        return [its, ""]
    ended = "toulbar2_seconds" in row
    return [its, f"{'' if ended else 'over '}{(row['toulbar2_seconds'] if ended else row['time_limit']) / row['exact_seconds']:.2g}"]


def table(files):
    cells = []
    for row in read_lines(files):
        exact = [f"{row['optimum']}", seconds(row["exact_seconds"])] if "optimum" in row else ["does not fit", ""]
        bounds = [between(row, "lower_bound", "upper_bound"), row["z"], seconds(row["bounds_seconds"])] if "z" in row else ["", "", ""]
        cells.append([row["model"], row.get("width", ""), *exact, *bounds, *peer(row)])
    print_table(["instance", "width", "exactly", "time", "bounds", "z", "time", "toulbar2", "its time / ours"], cells)


def ratios(files):
    cells = [[row["model"], row.get("width", ""), f"{row['optimum']}" if "optimum" in row else between(row, "lower_bound", "upper_bound"), *peer(row)] for row in read_lines(files)]
    print_table(["instance", "width", "Hornbill", "toulbar2", "its time / ours"], cells)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", nargs="+", metavar="LINES", help="print lines as a table")
    parser.add_argument("--ratios", nargs="+", metavar="LINES", help="print them without times")
    parser.add_argument("program", nargs="?", help="hornbill")
    parser.add_argument("files", nargs="*", help=".wcsp files")
    parser.add_argument("--time-limit", type=float, default=60, help="seconds for bounds, and for toulbar2 (default: 60)")
    parser.add_argument("--tries", type=int, default=100, help="elimination orders (default: 100)")
    parser.add_argument("--partition-by", default="size", choices=("size", "content"))
    parser.add_argument("--backend", help="hornbill's (default: its own default)")
    parser.add_argument("--memory-limit", type=int, help="hornbill's")
    parser.add_argument("--toulbar2", default=shutil.which("toulbar2"), help="its program (default: that of PATH; none: without it)")
    parser.add_argument("--commit", default="unknown")
    arguments = parser.parse_intermixed_args()
    if arguments.table:
        return table(arguments.table)
    if arguments.ratios:
        return ratios(arguments.ratios)
    if not arguments.program or not arguments.files:
        parser.error("hornbill and files are needed")
    for file in arguments.files:
        print(json.dumps(measure(arguments, file)), flush=True)
        print(f"{file}: done", file=sys.stderr)


if __name__ == "__main__":
    main()
