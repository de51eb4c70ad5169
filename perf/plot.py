#!/usr/bin/env python3
"""Time of an iteration against edges, by backend and schedule, beside other systems' figures.   Needs matplotlib.

    perf/plot.py -o perf/results/iteration.svg perf/results/BP_FILE.jsonl ...      files that perf_bp wrote; double precision
"""
import argparse
import json

try:
    import matplotlib
except ImportError:
    raise SystemExit("plot.py needs matplotlib: python3 -m pip install matplotlib")

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "hornbill"  # the same figures give the same file
import matplotlib.pyplot as plt

from tables import ONE_THREAD

# Edges and seconds an iteration. FastLBP: published, one ranking round of 200 PARALL iterations on an RTX 2080 Ti. PGMax: measured on one H200, float.
OTHERS = {
    "FastLBP PARALL, RTX 2080 Ti (published)": [(2351, 0.07 / 200), (41094, 0.41 / 200), (99363, 0.57 / 200), (136880, 0.90 / 200),
                                               (198154, 1.36 / 200), (588192, 3.17 / 200), (688090, 3.31 / 200)],
    "PGMax, H200 (float)": [(2359, 33e-6), (41102, 44e-6), (99371, 86e-6), (198162, 96e-6), (588200, 152e-6), (688098, 159e-6)],
}
MARKS = {"parall": "o", "seqfix": "s", "chromatic": "^", "topo": "v"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("-o", "--output", required=True)
    arguments = parser.parse_args()
    series = {}
    for file in arguments.files:
        with open(file) as text:
            for line in map(json.loads, text):
                if "error" in line or line["precision"] != "double" or line["graph"] == "hub" or line.get("sets", 1) != 1 or (line["backend"] == "openmp" and line["schedule"] in ONE_THREAD and line["device"] != "1 CPU thread"):
                    continue
                where = "1 CPU thread" if line["backend"] == "serial" else line["device"].replace("NVIDIA ", "")
                series.setdefault((line["schedule"], where), []).append((line["edges"], line["median_iteration_seconds"]))
    figure, axes = plt.subplots(figsize=(8, 5.5))
    colours = {where: f"C{i}" for i, where in enumerate(dict.fromkeys(where for _, where in series))}
    for (schedule, where), points in sorted(series.items()):
        axes.loglog(*zip(*sorted(points)), color=colours[where], marker=MARKS.get(schedule, "x"), label=f"Hornbill {schedule.upper()}, {where}")
    for (name, points), colour in zip(OTHERS.items(), ("0.3", "0.6")):
        axes.loglog(*zip(*points), color=colour, linestyle="--", marker="d", label=name)
    axes.set_xlabel("edges")
    axes.set_ylabel("seconds an iteration")
    axes.grid(True, which="both", linewidth=0.3)
    axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.01, 0.5))
    figure.savefig(arguments.output, bbox_inches="tight", metadata={"Date": None})


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        raise SystemExit(str(error))
