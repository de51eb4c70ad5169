#!/usr/bin/env python3
"""Kernels against the hardware: bytes counted, bytes measured by ncu, time, share of the floor. On an NVIDIA GPU, with ncu, or on CPUs.

    perf/roofline.py build/cuda/perf/perf_bp --graphs xalan,ftp --schedules parall,chromatic > perf/results/NAME.jsonl
    perf/roofline.py build/openmp/perf/perf_bp --backend openmp > perf/results/NAME.jsonl
    perf/roofline.py --rounds "build/cuda/perf/perf_rounds --graphs xalan" > perf/results/NAME.jsonl
    perf/roofline.py --table perf/results/NAME.jsonl

The floor of a kernel is its counted bytes at the device's copy bandwidth. Kernels whose data stays in a cache may beat it; a kernel of a graph
takes 0.54 us by itself, whatever it does.
"""
import argparse
import csv
import io
import json
import re
import shlex
import statistics
import subprocess

COPY_BYTES_PER_SECOND = 4260e9  # measured on one H200
METRICS = {"gpu__time_duration.sum": "seconds", "dram__bytes.sum": "dram_bytes", "lts__t_bytes.sum": "l2_bytes",
           "sm__inst_issued.avg.pct_of_peak_sustained_active": "issue_percent"}
# Kernel functors and the pass that they are part of.
FUNCTORS = {"NarrowToVariable": "narrow_to_variable", "WholeWideFactors": "wide_to_variable", "TotalOfParts": "wide_to_variable",
            "TieParts": "wide_to_variable", "WideToVariable": "wide_to_variable", "SumRowsLanes": "sum_rows", "SumHubs": "sum_hubs",
            "CommitLanes": "commit_lanes", "CommitPending": "commit_pending", "RunStretchLanes": "run_stretch",
            "Beliefs": "beliefs", "Judge": "judge", "BeliefsOfSets": "beliefs", "BeginWindow": "begin_window",
            "KeepChanges": "keep_changes", "SumProducts": "sum_products", "Extrapolate": "extrapolate", "MoveMessages": "move_messages",
            "MeasureResiduals": "measure_residuals", "ChooseThreshold": "choose_threshold", "CommitSelected": "commit_selected",
            "LargestResidual": "residuals", "TableToVariable": "table_to_variable", "SumStates": "sum_states"}
# Of rounds of labelling: kernels of local update, which runs before the iterations.
LOCAL = {"MarkChanged": "mark_changed", "RunLocally": "run_locally"}
# Of those in CPU runs that are no kernel of their own: parts of wide factors.
PARTS = {"total_of_parts": "wide_to_variable", "tie_parts": "wide_to_variable"}
UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "byte": 1, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9, "%": 1,
         "nsecond": 1e-9, "usecond": 1e-6, "msecond": 1e-3, "second": 1}


def run_perf(arguments, graph, schedule):
    return [arguments.perf_bp, *(["--accelerate"] if arguments.accelerate else []), "--graphs", graph, "--schedules", schedule, "--backends", arguments.backend, "--precisions", arguments.precision,
            "--iterations", str(arguments.iterations), "--repeats", "3", "--sets", str(arguments.sets), "--commit", arguments.commit]


def read_line(command):
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def profile(arguments, functors, choice, command):
    """Kernels that are chosen of a command: {functor: {metric: [values]}}; and the rest of what it prints."""
    ncu = [arguments.ncu, "--csv", "--metrics", ",".join(METRICS), "--clock-control", "none", "--cache-control", "none", "--print-kernel-base", "demangled", *choice]
    done = subprocess.run(ncu + command, capture_output=True, text=True, check=True)
    before, header, table = done.stdout.partition('"ID"')
    if not header:
        raise SystemExit(f"{arguments.ncu} has profiled nothing of {' '.join(command)}:\n{done.stdout}")
    kernels = {}
    for row in csv.DictReader(io.StringIO("\n".join(line for line in (header + table).splitlines() if line.startswith('"')))):
        functor = next((name for name in functors if re.search(rf"[<:]{name}<", row["Kernel Name"])), None)
        if functor:
            value = float(row["Metric Value"].replace(",", "")) * UNITS[row["Metric Unit"]]
            kernels.setdefault(functor, {}).setdefault(METRICS[row["Metric Name"]], []).append(value)
    return kernels, before


def gpu_kernels(arguments, graph, schedule, line):
    """Of an iteration: a kernel's launches may differ in size, so what is measured is their mean, times as many as there are."""
    middle = ["--graph-profiling", "node", "--launch-skip", str(arguments.skip), "--launch-count", str(arguments.count)]
    kernels, _ = profile(arguments, FUNCTORS, middle, run_perf(arguments, graph, schedule))
    for name in dict.fromkeys(FUNCTORS[functor] for functor in FUNCTORS):
        parts = [kernels[functor] for functor in kernels if FUNCTORS[functor] == name]
        if not parts:
            continue
        launches = line["launches"].get(name, 1)
        total = {metric: launches * sum(statistics.mean(part[metric]) for part in parts) for metric in ("seconds", "dram_bytes", "l2_bytes")}
        yield {"kernel": name, "launches": launches * len(parts), **total, "issue_percent": max(statistics.mean(part["issue_percent"]) for part in parts),
               "copy_bytes_per_second": COPY_BYTES_PER_SECOND}


def measure_rounds(arguments):
    """Local update: of all rounds the mean. What it must move depends on what a label moves, and is not counted."""
    functors = "|".join(LOCAL)
    kernels, before = profile(arguments, LOCAL, ["--kernel-name-base", "demangled", "-k", f"regex:{functors}"], [*shlex.split(arguments.rounds), "--commit", arguments.commit])
    rounds = [json.loads(line) for line in before.splitlines() if line.startswith("{")]
    first = {key: rounds[0][key] for key in ("graph", "edges", "schedule", "device", "commit")}
    for functor, name in LOCAL.items():
        if functor in kernels:
            print(json.dumps({"case": "roofline", **first, "kernel": name, "launches": 1, "counted_bytes": None, "rounds": len(rounds), "local_work": statistics.mean(line["local"]["local_work"] for line in rounds),
                              **{metric: statistics.mean(values) for metric, values in kernels[functor].items()}}), flush=True)


def cpu_kernels(line):
    seconds = {}
    for kernel, time in line["kernel_seconds"].items():
        name = PARTS.get(kernel, kernel)
        if name in line["launches"]:  # others are no part of an iteration
            seconds[name] = seconds.get(name, 0) + line["launches"][name] * time
    for name in sorted(seconds, key=seconds.get, reverse=True):
        yield {"kernel": name, "launches": line["launches"][name], "seconds": seconds[name], "copy_bytes_per_second": line["copy_bytes_per_second"]}


def measure(arguments):
    for graph in arguments.graphs.split(","):
        for schedule in arguments.schedules.split(","):
            on_gpu = arguments.backend == "cuda"
            line = read_line(run_perf(arguments, graph, schedule) + ([] if on_gpu else ["--kernels"]))
            for kernel in gpu_kernels(arguments, graph, schedule, line) if on_gpu else cpu_kernels(line):
                counted = line["counted_bytes"].get(kernel["kernel"])
                print(json.dumps({"case": "roofline", "graph": graph, "edges": line["edges"], "schedule": schedule, "sets": arguments.sets, "device": line["device"], "precision": arguments.precision,
                                  "commit": line["commit"], "counted_bytes": counted, **kernel, "iteration_seconds": line["median_iteration_seconds"]}), flush=True)


def print_table(files):
    print("| graph | schedule | sets | kernel | launches | bytes counted | from L2, measured | from memory, measured | time | floor | share of floor | issue slots used |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for file in files:
        with open(file) as text:
            for line in map(json.loads, text):
                counted = line["counted_bytes"]
                floor = counted / line["copy_bytes_per_second"] if counted else None
                megabytes = lambda bytes: f"{bytes / 1e6:.2f} MB" if bytes is not None else ""
                microseconds = lambda seconds: f"{seconds * 1e6:.4g} us" if seconds is not None else ""
                cells = [line["graph"], line["schedule"], line.get("sets", 1), line["kernel"], line["launches"], megabytes(counted), megabytes(line.get("l2_bytes")), megabytes(line.get("dram_bytes")),
                         microseconds(line["seconds"]), microseconds(floor), f"{100 * floor / line['seconds']:.0f} %" if floor else "",
                         f"{line['issue_percent']:.0f} %" if "issue_percent" in line else ""]
                print("| " + " | ".join(map(str, cells)) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("perf_bp", nargs="?")
    parser.add_argument("--graphs", default="weblech,xalan,ftp")
    parser.add_argument("--schedules", default="parall")
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--precision", default="double")
    parser.add_argument("--sets", type=int, default=1, help="evidence sets at once")
    parser.add_argument("--iterations", type=int, default=20, help="of a run")
    parser.add_argument("--accelerate", action="store_true", help="runs with acceleration from the 31st iteration on, whose kernels are counted by cycle")
    parser.add_argument("--ncu", default="ncu")
    parser.add_argument("--skip", type=int, default=60, help="kernels before those that are profiled")
    parser.add_argument("--count", type=int, default=60, help="kernels that are profiled")
    parser.add_argument("--rounds", metavar="COMMAND", help="a perf_rounds of one graph and schedule on a GPU, whose local updates are profiled instead")
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--table", nargs="+", metavar="FILE", help="print a Markdown table of results instead")
    arguments = parser.parse_args()
    if arguments.table:
        return print_table(arguments.table)
    if arguments.rounds:
        return measure_rounds(arguments)
    if not arguments.perf_bp:
        parser.error("perf_bp is needed")
    measure(arguments)


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        raise SystemExit(str(error))
