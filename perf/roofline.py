#!/usr/bin/env python3
"""The kernels of PARALL against the hardware: bytes counted, bytes measured by ncu, time, share of the floor. Needs an NVIDIA GPU and ncu.

    perf/roofline.py build/cuda/perf/perf_bp --graphs xalan,ftp > perf/results/NAME.jsonl
    perf/roofline.py --table perf/results/NAME.jsonl

The floor of a kernel is its counted bytes at the device's copy bandwidth. Kernels whose data stays in the L2 cache may beat it; a kernel of a graph
takes 0.54 us by itself, whatever it does.
"""
import argparse
import csv
import io
import json
import re
import statistics
import subprocess

COPY_BYTES_PER_SECOND = 4260e9  # measured on one H200
METRICS = {"gpu__time_duration.sum": "seconds", "dram__bytes.sum": "dram_bytes", "lts__t_bytes.sum": "l2_bytes",
           "sm__inst_issued.avg.pct_of_peak_sustained_active": "issue_percent"}
# Kernel functors and the pass that they are part of.
FUNCTORS = {"NarrowToVariable": "narrow_to_variable", "WholeWideFactors": "wide_to_variable", "TotalOfParts": "wide_to_variable",
            "TieParts": "wide_to_variable", "WideToVariable": "wide_to_variable", "SumRowsLanes": "sum_rows", "SumHubs": "sum_hubs",
            "Beliefs": "beliefs", "Judge": "judge"}
UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "byte": 1, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9, "%": 1,
         "nsecond": 1e-9, "usecond": 1e-6, "msecond": 1e-3, "second": 1}


def run_perf(arguments, graph):
    return [arguments.perf_bp, "--graphs", graph, "--schedules", "parall", "--backends", "cuda", "--precisions", arguments.precision,
            "--iterations", "20", "--repeats", "3", "--commit", arguments.commit]


def profile(arguments, graph):
    """Kernels of some iterations in the middle of a run: {functor: {metric: [values]}}."""
    command = [arguments.ncu, "--csv", "--metrics", ",".join(METRICS), "--clock-control", "none", "--cache-control", "none",
               "--print-kernel-base", "demangled", "--graph-profiling", "node", "--launch-skip", str(arguments.skip), "--launch-count", str(arguments.count)]
    done = subprocess.run(command + run_perf(arguments, graph), capture_output=True, text=True, check=True)
    table = done.stdout[done.stdout.index('"ID"'):]
    kernels = {}
    for row in csv.DictReader(io.StringIO("\n".join(line for line in table.splitlines() if line.startswith('"')))):
        functor = next((name for name in FUNCTORS if re.search(rf"[<:]{name}<", row["Kernel Name"])), None)
        if functor:
            value = float(row["Metric Value"].replace(",", "")) * UNITS[row["Metric Unit"]]
            kernels.setdefault(functor, {}).setdefault(METRICS[row["Metric Name"]], []).append(value)
    return kernels


def measure(arguments):
    for graph in arguments.graphs.split(","):
        line = json.loads(subprocess.run(run_perf(arguments, graph), capture_output=True, text=True, check=True).stdout)
        kernels = profile(arguments, graph)
        for name in dict.fromkeys(FUNCTORS[functor] for functor in FUNCTORS):
            parts = [kernels[functor] for functor in kernels if FUNCTORS[functor] == name]
            if not parts:
                continue
            total = {metric: sum(statistics.median(part[metric]) for part in parts) for metric in ("seconds", "dram_bytes", "l2_bytes")}
            counted = line["counted_bytes"].get(name)
            print(json.dumps({"case": "roofline", "graph": graph, "edges": line["edges"], "kernel": name, "launches": len(parts), "device": line["device"],
                              "precision": arguments.precision, "commit": line["commit"], "counted_bytes": counted, **total,
                              "issue_percent": max(statistics.median(part["issue_percent"]) for part in parts),
                              "iteration_seconds": line["median_iteration_seconds"]}), flush=True)


def print_table(files):
    print("| graph | kernel | launches | bytes counted | from L2, measured | from memory, measured | time | floor | share of floor | issue slots used |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for file in files:
        with open(file) as text:
            for line in map(json.loads, text):
                counted = line["counted_bytes"]
                floor = counted / COPY_BYTES_PER_SECOND if counted else None
                cells = [line["graph"], line["kernel"], line["launches"], f"{counted / 1e6:.2f} MB" if counted else "", f"{line['l2_bytes'] / 1e6:.2f} MB",
                         f"{line['dram_bytes'] / 1e6:.2f} MB", f"{line['seconds'] * 1e6:.2f} us", f"{floor * 1e6:.2f} us" if floor else "",
                         f"{100 * floor / line['seconds']:.0f} %" if floor else "", f"{line['issue_percent']:.0f} %"]
                print("| " + " | ".join(map(str, cells)) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("perf_bp", nargs="?")
    parser.add_argument("--graphs", default="weblech,xalan,ftp")
    parser.add_argument("--precision", default="double")
    parser.add_argument("--ncu", default="ncu")
    parser.add_argument("--skip", type=int, default=60, help="kernels before those that are profiled")
    parser.add_argument("--count", type=int, default=60, help="kernels that are profiled")
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--table", nargs="+", metavar="FILE", help="print a Markdown table of results instead")
    arguments = parser.parse_args()
    if arguments.table:
        return print_table(arguments.table)
    if not arguments.perf_bp:
        parser.error("perf_bp is needed")
    measure(arguments)


if __name__ == "__main__":
    main()
