#!/usr/bin/env python3
"""Points-to analysis of constraint files, with all devices and with each of them off: `hornbill pointsto`. One JSON object a line.

    perf/pointsto.py build/openmp/hornbill sqlite.fs.cons.txt vim.fs.cons.txt > perf/results/NAME.jsonl

Each line has the medians of `plan_seconds` and `solve_seconds` (reading excluded), and the most memory that a run took.
`perf/tables.py --pointsto FILE` makes tables of them.
"""
import argparse
import json
import os
import statistics
import subprocess
import tempfile

DEVICES = {"all": [], "no value numbering": ["--value-numbering", "none"], "HVN, not HU": ["--value-numbering", "hvn"], "no cycles": ["--no-cycles"],
           "no hybrid cycles": ["--no-hybrid-cycles"], "no hubs": ["--no-hubs"]}


def run(program, file, options):
    """The JSON that `hornbill pointsto` prints, and the most memory it had, in bytes."""
    process = subprocess.Popen([program, "pointsto", file, "--again", "--solver", "host", "--json", *options], stdout=subprocess.PIPE, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"{file}: hornbill failed")
    return json.loads(output), usage.ru_maxrss * 1024


def file_bytes(program, file):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.h5")
        subprocess.run([program, "pointsto", file, "-o", out], check=True, capture_output=True)
        return os.path.getsize(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the built `hornbill`")
    parser.add_argument("files", nargs="+", metavar="FILE", help="constraints")
    parser.add_argument("--repeats", type=int, default=5, help="default 5")
    parser.add_argument("--commit", default=None, help="the commit that was built")
    arguments = parser.parse_args()
    for file in arguments.files:
        name = os.path.basename(file).removesuffix(".cons.txt").removesuffix(".h5")
        runs = {device: [] for device in DEVICES}
        for _ in range(arguments.repeats):  # in turn, so that a busy machine slows all of them
            for device, options in DEVICES.items():
                runs[device].append(run(arguments.program, file, options))
        for device, results in runs.items():
            first = results[0][0]
            line = {"case": "pointsto", "program": name, "devices": device, "backend": "host", "commit": arguments.commit,
                    **{key: first[key] for key in ("variables", "objects", "constraints", "facts", "distinct_sets", "set_objects")},
                    "plan_seconds": statistics.median(json["plan"]["seconds"] for json, _ in results), "solve_seconds": statistics.median(json["solve"]["seconds"] for json, _ in results),
                    **{f"{step}_seconds": statistics.median(json["solve"][f"{step}_seconds"] for json, _ in results) for step in ("collapse", "propagate", "expand")},
                    **{key: first["plan"][key] for key in ("merged_by_cycles", "merged_by_numbering", "without_targets", "constraints_left", "hybrid_cycles")},
                    **{key: first["solve"][key] for key in ("rounds", "copy_edges", "load_edges", "store_edges", "hubs", "unions")},
                    "merged_while_solving": first["solve"]["merged_by_cycles"] + first["solve"]["merged_by_hybrid_cycles"],
                    "bytes": max(memory for _, memory in results)}
            if device == "all":
                line["file_bytes"] = file_bytes(arguments.program, file)
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
