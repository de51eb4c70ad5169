#!/usr/bin/env python3
"""Markdown tables of the JSON lines that perf_bp and lbp_table.py write.

    perf/tables.py perf/results/FILE.jsonl ...
    perf/tables.py --summary perf/results/LBP_FILE.jsonl ...     lbp_table.py's, one row a graph
    perf/tables.py --iterations perf/results/BP_FILE.jsonl ...   perf_bp's, one row a graph
    perf/tables.py --commits perf/results/BP_FILE.jsonl ...      perf_bp's at several commits, one row a graph, schedule and precision
    perf/tables.py --sets perf/results/BP_FILE.jsonl ...         perf_bp's with --sets, one row a graph and schedule
    perf/tables.py --threads perf/results/BP_FILE.jsonl ...      perf_bp's with one number of CPU threads after another
    perf/tables.py --rounds perf/results/ROUNDS_FILE.jsonl ...   perf_rounds', one row a graph and schedule
    perf/tables.py --exact perf/results/TABLES_FILE.jsonl ...    perf_tables', one row a model and engine
    perf/tables.py --chains perf/results/CHAINS_FILE.jsonl ...   chains.py's, one row a command and length
    perf/tables.py --pointsto perf/results/POINTSTO_FILE.jsonl ...   pointsto.py's, one row a program, and one a device left out
    perf/tables.py --backends perf/results/POINTS_TO_FILE.jsonl ...  perf_points_to's, one row a program and solver
    perf/tables.py --lists perf/results/POINTS_TO_FILE.jsonl ...     perf_points_to's with --lists, one row a program
    perf/tables.py --devices perf/results/POINTS_TO_FILE.jsonl ...   perf_points_to's with --devices, one row a program and device
    perf/tables.py --representations perf/results/POINTS_TO_FILE.jsonl ...   perf_points_to's with --representations
    perf/tables.py --convergence perf/results/CONVERGENCE_FILE.jsonl ...   convergence.py's, one row a method
"""
import argparse
import json
import os
import statistics


ONE_THREAD = {"seqfix", "topo", "seqrnd"}  # total orders, which run on one CPU thread whatever the backend


def seconds(value):
    """Three digits and a unit."""
    for unit, scale in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value:.3g} s"


def print_table(header, rows):
    print("| " + " | ".join(header) + " |")
    print("| " + " | ".join("---" for _ in header) + " |")
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    print()


def lbp_rows(lines):
    for line in lines:
        if "error" in line:
            yield [line["graph"], line["error"]]
            continue
        yield [line["graph"], f"{line['edges']:,}", line["schedule"], line["precision"], f"{line['batches']:,}", line["iterations"],
               f"{line['residual']:.1e}", seconds(line["run_seconds"]), seconds(line["run_seconds"] / max(1, line["iterations"])),
               seconds(line["analysis_seconds"])]


def bp_rows(lines):
    for line in lines:
        if "error" in line:
            yield [line["graph"], line["schedule"], line["precision"], line["error"]]
            continue
        yield [line["graph"], f"{line['edges']:,}", line["schedule"], line["backend"], line["precision"], f"{line['batches']:,}",
               seconds(line["median_iteration_seconds"]), f"{line['nanoseconds_per_edge']:.3g}", line["iterations_to_1e-6"],
               seconds(line["seconds_to_1e-6"]), seconds(line["analysis_seconds"]), seconds(line["load_seconds"])]


def summary(files):
    """Times and residuals of lbp_table.py's runs, one row a graph."""
    for precision in ("double", "float"):
        runs = {}
        for file in files:
            with open(file) as text:
                for line in map(json.loads, text):
                    if line.get("precision") == precision:
                        runs[line["graph"], line["device"], line["schedule"]] = line
        devices = list(dict.fromkeys(device for _, device, _ in runs))
        header = ["graph", "edges"]
        for device in devices:
            header += [f"{device}: PARALL, 200 iterations", "residual", "SEQFIX to 1e-6", "iterations", "residual"]
        rows = []
        for graph in dict.fromkeys(graph for graph, _, _ in runs):
            row = [graph, f"{runs[graph, devices[0], 'parall']['edges']:,}"]
            for device in devices:
                parall, seqfix = runs[graph, device, "parall"], runs[graph, device, "seqfix"]
                row += [seconds(parall["run_seconds"]), f"{parall['residual']:.0e}", seconds(seqfix["run_seconds"]), seqfix["iterations"],
                        f"{seqfix['residual']:.0e}"]
            rows.append(row)
        print(f"{precision}:\n")
        print_table(header, rows)


def iterations(files):
    """The time of one iteration, one row a graph."""
    for precision in ("double", "float"):
        times, edges, batches, columns = {}, {}, {}, {}
        for file in files:
            with open(file) as text:
                for line in map(json.loads, text):
                    if "error" in line or line["precision"] != precision or line.get("sets", 1) != 1 or line["backend"] == "openmp" and line["schedule"] in ONE_THREAD and line["device"] != "1 CPU thread":
                        continue
                    column = line["schedule"].upper(), "1 CPU thread" if line["backend"] == "serial" else line["device"]
                    columns[column] = None
                    edges[line["graph"]] = line["edges"]
                    times[line["graph"], column] = line["median_iteration_seconds"]
                    if line["schedule"] == "seqfix":
                        batches[line["graph"]] = line["batches"]
        order = sorted(columns, key=lambda column: column[0])
        print(f"{precision}:\n")
        print_table(["graph", "edges", *(", ".join(column) for column in order), "SEQFIX batches"],
                    [[graph, f"{edges[graph]:,}", *(seconds(times[graph, c]) if (graph, c) in times else "" for c in order), f"{batches.get(graph, 0):,}"]
                     for graph in edges])


def read_lines(files):
    for file in files:
        with open(file) as text:
            yield from map(json.loads, text)


def by_commit(files):
    """The fastest run at each commit of one device, and the last commit's time over the first's: perf_bp's iterations, perf_tables' engines."""
    times = {}
    for line in read_lines(files):
        key = ((line["graph"], line["schedule"], line["precision"]) if "graph" in line else (line["model"], line["engine"], line["values"])) + (line["device"],)
        run = times.setdefault(key, {})
        run[line["commit"]] = min(line["median_iteration_seconds" if "graph" in line else "seconds"], run.get(line["commit"], float("inf")))
    names = list(dict.fromkeys(commit for run in times.values() for commit in run))
    print_table(["graph", "schedule or engine", "numbers", "device", *names, f"{names[-1]} / {names[0]}"],
                [[*key, *(seconds(run[name]) for name in names), f"{run[names[-1]] / run[names[0]]:.3f}"] for key, run in times.items()])


def sets(files):
    """One iteration of several evidence sets at once beside one of a single set."""
    times = {}
    for line in read_lines(files):
        if "error" not in line:
            times.setdefault((line["graph"], line["schedule"], line["device"], line["precision"]), {})[line["sets"]] = line["median_iteration_seconds"]
    counts = sorted({count for by_count in times.values() for count in by_count})
    rows = []
    for key, by_count in times.items():
        cells = [seconds(by_count[n]) + (f" ({by_count[n] / by_count[1]:.3g})" if n > 1 and 1 in by_count else "") if n in by_count else "" for n in counts]
        rows.append([*key, *cells])
    print_table(["graph", "schedule", "device", "precision", *(f"{n} set{'s' if n > 1 else ''}" + (" (times one)" if n > 1 else "") for n in counts)], rows)


def threads(files):
    """Times of an iteration by CPU threads, and by how much each number of them is faster than the fewest."""
    times = {}
    for line in read_lines(files):
        if "error" not in line:
            count = int(line["device"].split()[0])
            times.setdefault((line["graph"], f"{line['edges']:,}", line["schedule"], line["precision"]), {})[count] = line["median_iteration_seconds"]
    counts = sorted({count for by_count in times.values() for count in by_count})
    rows = []
    for key, by_count in times.items():
        fewest = by_count[min(by_count)]
        rows.append([*key, *(seconds(by_count[n]) + (f" ({fewest / by_count[n]:.3g})" if n > min(by_count) else "") if n in by_count else "" for n in counts)])
    print_table(["graph", "edges", "schedule", "precision", *(f"{n} thread{'s' if n > 1 else ''}" for n in counts)], rows)


def rounds(files):
    """Cold runs beside warm ones, without local update and with it: medians over rounds."""
    runs = {}
    for line in read_lines(files):
        runs.setdefault((line["graph"], line["schedule"], line["device"]), []).append(line)
    rows = []
    for key, lines in runs.items():
        cells = []
        for start in ("cold", "warm", "local"):
            good = [line[start] for line in lines if line[start]["stop"] == "converged"]
            cells += [f"{len(good)} of {len(lines)}"] + ([f"{statistics.median(run['iterations'] for run in good):.0f}", seconds(statistics.median(run["seconds"] for run in good))] if good else ["", ""])
        all_good = [line for line in lines if all(line[start]["stop"] == "converged" for start in ("cold", "warm", "local"))]
        ratios = [f"{statistics.median(line[start]['seconds'] / line['cold']['seconds'] for line in all_good):.2g}" if all_good else "" for start in ("warm", "local")]
        rows.append([*key, *cells, *ratios, sum(line["largest_difference"] < 1e-3 for line in all_good)])
    columns = ["converged", "iterations", "time"]
    print_table(["graph", "schedule", "device", *(f"{start}: {column}" for start in ("cold", "warm", "local") for column in columns), "warm / cold", "local / cold",
                 "rounds with the cold run's marginals to 0.001"], rows)


def convergence(files):
    """How many runs under evidence converge, one row a method; iterations and times are medians over those that do."""
    runs = {}
    for file in files:
        with open(file) as text:
            for line in map(json.loads, text):
                runs.setdefault((line["schedule"], line["damping"], line.get("device", "?")), []).append(line)
    rows, distances = [], []
    for (schedule, damping, device), lines in runs.items():
        good = [line for line in lines if line.get("converged")]
        median = lambda key: statistics.median(line[key] for line in good)
        failed = sum("converged" not in line for line in lines)  # contradictions and errors
        rows.append([schedule, damping, device, f"{len(good)} of {len(lines)}" + (f" ({failed} failed)" if failed else ""), f"{median('iterations'):.0f}" if good else "",
                     seconds(median("run_seconds")) if good else "", seconds(sum(line["run_seconds"] for line in lines if "run_seconds" in line))])
        for line in lines:
            if "largest_distance_to_exact" in line:
                distances.append([schedule, damping, line["evidence"], line["iterations"], f"{line['largest_distance_to_exact']:.3g}",
                                  f"{line['mean_distance_to_exact']:.3g}", f"{line['largest_distance_to_libdai_bp']:.1e}"])
    print_table(["schedule", "damping", "device", "converged", "iterations", "time", "time of all runs"], rows)
    if distances:
        print_table(["schedule", "damping", "labels", "iterations", "largest distance to exact", "mean distance", "to libDAI's BP"], distances)


def exact(files):
    """A model a row: the time on the GPU, also with values of 32 bits where those were run, and how much longer one CPU thread takes; engine by engine."""
    runs = {}
    for line in read_lines(files):
        if "error" not in line:
            runs.setdefault(line["engine"], {}).setdefault(line["model"], {})[line["backend"], line["values"]] = line
    milliseconds = lambda value: f"{value * 1e3:.3g}"
    for engine, models in runs.items():
        rows = []
        for model, by_kind in models.items():
            gpu = next((by_kind["cuda", values] for values in ("int64", "double") if ("cuda", values) in by_kind), None)
            if gpu is None:
                continue
            cpu, half = by_kind.get(("openmp", gpu["values"])), by_kind.get(("cuda", "int32" if gpu["values"] == "int64" else "float"))
            rows.append([model, gpu["width"], f"{gpu['combined_cells'] / 1e6:,.1f} M", milliseconds(gpu["seconds"]), milliseconds(half["seconds"]) if half else "",
                         milliseconds(gpu["update_seconds"]) if "update_seconds" in gpu else "", f"{gpu['share_of_copy']:.2f}",
                         f"{gpu['largest_bucket']['share_of_copy']:.2f}" if "largest_bucket" in gpu else "",
                         f"{cpu['seconds'] / gpu['seconds']:.0f}" if cpu else ""])
        print(f"{engine}:\n")
        print_table(["model", "width", "cells combined", "GPU, ms", "in 32 bits, ms", "update, ms", "share of copy", "of the largest bucket", "one CPU thread / GPU"], rows)


def chains(files):
    """The time for each variable, as a multiple of that in the shortest chain; and how it divides."""
    phases = {"order_seconds": "order", "plan_seconds": "plan", "setup_seconds": "set-up", "seconds": "propagation or elimination"}
    shortest, rows = {}, []
    for line in read_lines(files):
        total = sum(line.get(phase, 0) for phase in phases)
        of_shortest = shortest.setdefault(line["command"], total / line["variables"])
        rows.append([line["command"], f"{line['variables']:,}", line["backend"], f"{total / line['variables'] / of_shortest:.2f}",
                     *(f"{100 * line[phase] / total:.0f} %" if phase in line else "" for phase in phases)])
    print_table(["command", "variables", "backend", "time a variable", *phases.values()], rows)


def pointsto(files):
    """What each program took, and how time and work grow where a device is left out."""
    lines = list(read_lines(files))
    whole = {line["program"]: line for line in lines if line["devices"] == "all"}
    time = lambda line: line["plan_seconds"] + line["solve_seconds"]
    edges = lambda line: line["copy_edges"] + line["load_edges"] + line["store_edges"]
    rows = [[name, f"{line['variables']:,}", f"{line['constraints']:,}", f"{line['constraints_left']:,}", f"{edges(line):,}", f"{line['hubs']:,}", line["rounds"], f"{line['facts']:,}", f"{line['distinct_sets']:,}",
             f"{line['set_objects']:,}", *(f"{100 * line[step + '_seconds'] / time(line):.0f} %" for step in ("plan", "collapse", "propagate", "expand")), f"{line['bytes'] / 1e6:.0f} MB",
             f"{line['file_bytes'] / (line['set_objects'] + line['variables']):.1f} B"] for name, line in whole.items()]
    print_table(["program", "variables", "constraints", "left", "edges", "hubs", "rounds", "facts", "distinct sets", "their objects", "before solving", "collapse", "propagate", "expand", "memory",
                 "file, an object or variable"], rows)
    print()
    rows = [[line["program"], line["devices"], f"{time(line) / time(whole[line['program']]):.2f}", line["rounds"], f"{edges(line) / edges(whole[line['program']]):.2f}", f"{line['unions'] / whole[line['program']]['unions']:.2f}",
             f"{line['bytes'] / whole[line['program']]['bytes']:.2f}"] for line in lines if line["devices"] != "all"]
    print_table(["program", "without", "time", "rounds", "edges", "unions", "memory"], rows)


def backends(files):
    """How long one thread of the host and each backend took to solve a program's constraints."""
    host, rows = {}, []
    for line in read_lines(files):
        solve, plan, name = line["solve_seconds"], line["plan_seconds"], line["program"]
        is_host, is_first = line["backend"] == "host", name not in host
        if is_host:
            host[name] = line  # of this run
        if is_host and not is_first:
            continue
        of_host = host[name]
        rows.append([name, "host, one thread" if is_host else line["device"] + (", its plan" if "plans" in line else ""), line["rounds"], f"{line['edges']:,}", f"{line['set_bytes'] / 1e6:.1f} MB", line["launches"] or "", line["looks"] or "",
                     *(f"{100 * line[step + '_seconds'] / solve:.0f} %" for step in ("prepare", "collapse", "propagate", "expand", "collect")), *([f"{1000 * t:.1f}" for t in (solve, plan)] if line["device"].startswith("NVIDIA") else ["", ""]),
                     f"{of_host['solve_seconds'] / solve:.2f}", f"{(of_host['plan_seconds'] + of_host['solve_seconds']) / (plan + solve):.2f}", {True: "yes", False: "NO"}.get(line.get("same_bits"), "")])
    print_table(["program", "device", "rounds", "edges", "sets", "launches", "looks", "prepare", "collapse", "propagate", "expand", "collect", "ms", "planning, ms", "host / this, solving", "with planning", "same bits"], rows)


def lists(files):
    """The scheme of lists beside ours on the same device, solving."""
    ours, rows = {}, []
    for line in read_lines(files):
        name = line["program"]
        if line.get("solver") != "lists":
            if line["case"] == "points_to" and not {"devices", "plans"} & line.keys():
                ours[name, line["backend"]] = line
            continue
        of_ours = ours[name, line["backend"]]
        rows.append([name, line["device"], f"{line['rounds']} / {of_ours['rounds']}", f"{line['set_bytes'] / 1e6:.1f} / {of_ours['set_bytes'] / 1e6:.1f} MB", f"{1000 * line['solve_seconds']:.1f} / {1000 * of_ours['solve_seconds']:.1f}",
                     f"{line['solve_seconds'] / of_ours['solve_seconds']:.1f}", {True: "yes", False: "NO"}[line["same_bits"]]])
    print_table(["program", "device", "rounds, lists / ours", "sets", "ms", "lists / ours", "same sets"], rows)


def without_device(files):
    """What a backend took without each device, beside all of them."""
    whole, rows = {}, []
    for line in read_lines(files):
        if line["case"] != "points_to" or line.get("solver") == "lists" or "plans" in line:
            continue
        name, backend = line["program"], line["backend"]
        if "devices" not in line:
            whole[name, backend] = line
        else:
            rows.append([name, line["devices"], line["rounds"], *(f"{line[key] / whole[name, backend][key]:.2f}" for key in ("solve_seconds", "plan_seconds", "edges", "set_bytes")), {True: "yes", False: "NO"}[line["same_bits"]]])
    print_table(["program", "without", "rounds", "solving", "planning", "edges", "memory of sets", "same bits"], rows)


def representations(files):
    """Unions of a program's sets, kept in several ways."""
    rows = [[line["program"], f"{line['distinct_sets'] - 1:,}", f"{line['objects_of_sets']:,}", line["representation"], f"{line['set_bytes'] / 1e6:.1f} MB", f"{1e9 * line['union_seconds']:.1f}"] for line in read_lines(files) if line["case"] == "sets"]
    print_table(["program", "sets", "their objects", "kept as", "memory", "ns a union"], rows)


# Milliseconds of PyJuice 2.6.3 for the forward pass of a batch of 512, measured apart on an H200 with CUDA graphs.
PYJUICE_FORWARD = {"hmm,512": 1.31, "hmm,2048": 4.75, "hmm,6144": 33.8, "hclt,64": 1.06, "hclt,256": 3.12, "hclt,1024": 19.7, "rat,64": 0.29, "rat,512": 2.06, "pd,64": 1.42, "pd,512": 40.9}


def circuits(files):
    """Evaluation of probabilistic circuits."""
    rows = []
    for line in read_lines(files):
        peer = PYJUICE_FORWARD.get(line["circuit"]) if "NVIDIA" in line["device"] else None
        error = f"{line['largest_error']:.1e}, {line['mean_error']:+.0e}" if "largest_error" in line else ""
        rows.append([line["circuit"], f"{line['edges'] / 1e6:.1f} M", line["device"], line["precision"], f"{line['forward_ms']:.2f}", f"{line['tera_operations_a_second']:.3g}", error,
                     f"{(line['state_bytes'] + line['parameter_bytes'] + line['plan_bytes']) / 1e9:.2f}", f"{line['plan_ms']:.0f}", peer or ""])
    print_table(["circuit", "edges", "device", "precision", "forward, ms", "TFLOP/s", "error, largest and mean, nats", "memory, GB", "plan, ms", "PyJuice, ms"], rows)


# The same for the backward pass, flows of nodes and of parameters together, and a step of expectation maximisation.
PYJUICE_LEARNING = {"hmm,512": (2.03, 0.23), "hmm,2048": (11.9, 0.29), "hmm,6144": (91.3, 0.66), "hclt,64": (3.17, 0.99), "hclt,256": (7.46, 3.5), "hclt,1024": (56.5, 28.4), "rat,64": (0.57, 0.95), "rat,512": (5.4, 11.8), "pd,64": (3.15, 1.0), "pd,512": (89.6, 16.9)}


def learning(files):
    """Flows of probabilistic circuits, and steps of learning."""
    rows = []
    for line in read_lines(files):
        if "nodes_ms" not in line:
            continue
        peer = PYJUICE_LEARNING.get(line["circuit"]) if "NVIDIA" in line["device"] else None
        rows.append([line["circuit"], line["device"], line["precision"], f"{line['forward_ms']:.2f}", f"{line['nodes_ms']:.2f}", f"{line['parameters_ms']:.2f}", f"{line['em_ms']:.2f}", f"{line['flow_plan_ms']:.1f}",
                     f"{(line['training_bytes'] + line['parameter_bytes'] + line['plan_bytes']) / 1e9:.2f}", f"{peer[0]}, {peer[1]}" if peer else ""])
    print_table(["circuit", "device", "precision", "forward, ms", "flows of nodes, ms", "of parameters, ms", "a step, ms", "plan of flows, ms", "memory, GB", "PyJuice: backward, step, ms"], rows)


def main():
    kinds = {"summary": summary, "circuits": circuits, "learning": learning, "iterations": iterations, "commits": by_commit, "sets": sets, "threads": threads, "rounds": rounds, "exact": exact, "chains": chains, "pointsto": pointsto, "backends": backends, "lists": lists, "devices": without_device, "representations": representations, "convergence": convergence}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    chosen = parser.add_mutually_exclusive_group()
    for kind in kinds:
        chosen.add_argument(f"--{kind}", action="store_const", const=kind, dest="kind")
    parser.add_argument("files", nargs="+", metavar="FILE")
    arguments = parser.parse_args()
    if arguments.kind:
        return kinds[arguments.kind](arguments.files)
    for file in arguments.files:
        with open(file) as text:
            lines = [json.loads(line) for line in text if line.startswith("{")]
        devices = sorted({line.get("device", "?") for line in lines})
        commits = sorted({str(line.get("commit")) for line in lines})
        print(f"{os.path.basename(file)}: {', '.join(devices)}; commit {', '.join(commits)}\n")
        if lines and lines[0]["case"] == "lbp":
            print_table(["graph", "edges", "schedule", "precision", "batches", "iterations", "residual", "run", "an iteration", "analysis"],
                        lbp_rows(lines))
        else:
            print_table(["graph", "edges", "schedule", "backend", "precision", "batches", "an iteration", "ns/edge", "iterations to 1e-6",
                         "time to 1e-6", "analysis", "loading"], bp_rows(lines))


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        raise SystemExit(str(error))
    except KeyError as error:
        raise SystemExit(f"a line has no {error}: the file is of another program than the option is for (--help lists them)")
