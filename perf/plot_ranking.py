#!/usr/bin/env python3
"""ROC curves and times of rounds, from what `hornbill rank --oracle FILE --json` prints. The plots need matplotlib; SVG, PNG, PDF by the ending.

    hornbill rank model.h5 --oracle true_alarms.txt --json > ranking.json
    perf/plot_ranking.py ranking.json --roc roc.svg --times times.png           several files give several curves
"""
import argparse
import json
import os


def roc(ranking):
    """Points (share of false alarms looked at, share of true ones), alarm after alarm; those never looked at are false, and come last."""
    true, false, found = ranking["true"], ranking["alarms"] - ranking["true"], [0, 0]
    points = [(0.0, 0.0)]
    for one in ranking["rounds"]:
        if one["label"] in ("true", "false"):
            found[one["label"] == "true"] += 1
            points.append((found[0] / max(1, false), found[1] / max(1, true)))
    return points + [(1.0, points[-1][1])]


def area(points):
    return sum((x - x_before) * (y + y_before) / 2 for (x_before, y_before), (x, y) in zip(points, points[1:]))


def read(files):
    rankings = {}
    for file in files:
        with open(file) as text:
            try:
                ranking = json.load(text)
            except ValueError:
                ranking = {}
        if not isinstance(ranking, dict) or "rounds" not in ranking or "true" not in ranking:
            raise SystemExit(f"{file}: is not what `hornbill rank --oracle FILE --json` prints")
        rankings[os.path.basename(file).removesuffix(".json")] = ranking
    return rankings


def plot(draw, output, xlabel, ylabel):
    try:
        import matplotlib
    except ImportError:
        raise SystemExit("plot_ranking.py needs matplotlib: python3 -m pip install matplotlib")
    matplotlib.use("agg")
    matplotlib.rcParams["svg.hashsalt"] = "hornbill"  # the same rankings give the same file
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4.5))
    draw(axes)
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    axes.grid(True, linewidth=0.3)
    axes.legend(fontsize=8)
    if os.path.splitext(output)[1].removeprefix(".").lower() not in figure.canvas.get_supported_filetypes():
        raise SystemExit(f"{output}: the ending says what to write: .svg, .png or .pdf")
    figure.savefig(output, bbox_inches="tight", metadata={"Date": None} if output.endswith(".svg") else None)


def draw_roc(axes, rankings):
    axes.plot([0, 1], [0, 1], color="0.7", linestyle="--", linewidth=0.8, label="at random")
    for name, ranking in rankings.items():
        points = roc(ranking)
        axes.plot(*zip(*points), label=f"{name}, area {area(points):.3f}")


def draw_times(axes, rankings):
    for name, ranking in rankings.items():
        seconds = [one["seconds"] for one in ranking["rounds"]]
        axes.semilogy(range(1, len(seconds) + 1), seconds, marker=".", linewidth=0.7, label=f"{name}, {sum(seconds):.3g} s in all")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="RANKING.json")
    parser.add_argument("--roc", metavar="FILE")
    parser.add_argument("--times", metavar="FILE")
    arguments = parser.parse_args()
    if not arguments.roc and not arguments.times:
        parser.error("give --roc FILE or --times FILE, or both")
    rankings = read(arguments.files)
    if arguments.roc:
        plot(lambda axes: draw_roc(axes, rankings), arguments.roc, "share of false alarms looked at", "share of true alarms found")
    if arguments.times:
        plot(lambda axes: draw_times(axes, rankings), arguments.times, "round", "seconds")


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        raise SystemExit(str(error))
