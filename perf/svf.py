#!/usr/bin/env python3
"""Points-to analysis from bitcode beside SVF's, program by program, each by one thread and in turn.

    perf/svf.py build/openmp/hornbill --wpa svf/bin/wpa --extapi svf/lib/extapi.bc lua=lua.bc > perf/results/NAME.jsonl
    perf/svf.py --table perf/results/NAME.jsonl

Of SVF (`wpa -ander`) there are its own time of the analysis, without reading bitcode and making its graph, and the time and memory of the whole run; of
Hornbill the same of `extract` and `pointsto`, which write their answers to files, too. Times of whole runs are of the processor. PyPI's `pysvf` has
`wpa` and `extapi.bc`; it needs glibc 2.38.
"""
import argparse
import json
import os
import re
import subprocess
import tempfile


def run(*command):
    """What a command prints, its processor time in seconds, and the most memory it had, in bytes."""
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(list(map(str, command)), stdout=out, stderr=subprocess.STDOUT, env={**os.environ, "OMP_NUM_THREADS": "1"})
        _, status, usage = os.wait4(process.pid, 0)
        out.seek(0)
        text = out.read()
    if status != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: failed: {text[-500:]}")
    return text, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def measure(arguments, name, file, folder):
    text, seconds, memory = run(arguments.wpa, "-ander", f"-extapi={arguments.extapi}", file)
    solving = [float(number) for number in re.findall(r"^TotalTime\s+([0-9.]+)", text, re.MULTILINE)]
    if not solving:
        raise SystemExit(f"{arguments.wpa}: prints no TotalTime for {file}")
    constraints, sets = os.path.join(folder, f"{name}.h5"), os.path.join(folder, f"{name}_sets.h5")
    best = None
    for _ in range(arguments.repeat):
        _, extract_seconds, extract_memory = run(arguments.program, "extract", file, "-o", constraints)
        answer, pointsto_seconds, pointsto_memory = run(arguments.program, "pointsto", constraints, "-o", sets, "--json")
        report = json.loads(answer)
        line = {"seconds": extract_seconds + pointsto_seconds, "solve_seconds": report["plan"]["seconds"] + report["solve"]["seconds"],
                "bytes": max(extract_memory, pointsto_memory), "facts": report["facts"]}
        if best is None or line["seconds"] < best["seconds"]:
            best = line
    return {"case": "svf", "program": name, "commit": arguments.commit, **best, "svf_seconds": seconds, "svf_solve_seconds": max(solving), "svf_bytes": memory}


def table(files):
    print("| program | SVF: analysis | whole run | memory | Hornbill: analysis | whole runs | memory | times as fast: analysis | whole | part of the memory |")
    print("| " + "--- | " * 10)
    for file in files:
        for line in map(json.loads, open(file, encoding="utf-8")):
            gigabytes = [f"{line[key] / 1e9:.2f} GB" for key in ("svf_bytes", "bytes")]
            print(f"| {line['program']} | {line['svf_solve_seconds']:.2f} s | {line['svf_seconds']:.1f} s | {gigabytes[0]} | {line['solve_seconds']:.3f} s | {line['seconds']:.2f} s | {gigabytes[1]} | "
                  f"{line['svf_solve_seconds'] / line['solve_seconds']:.0f} | {line['svf_seconds'] / line['seconds']:.0f} | 1/{line['svf_bytes'] / line['bytes']:.0f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", help="the built `hornbill`")
    parser.add_argument("programs", nargs="*", metavar="NAME=FILE.bc")
    parser.add_argument("--wpa", help="SVF's program")
    parser.add_argument("--extapi", help="its bitcode of the library, extapi.bc")
    parser.add_argument("--repeat", type=int, default=3, help="of Hornbill; the fastest counts (default 3)")
    parser.add_argument("--commit", help="the commit that was built")
    parser.add_argument("--table", nargs="+", metavar="FILE", help="print a table of results")
    arguments = parser.parse_intermixed_args()
    if arguments.table:
        return table(arguments.table)
    if not (arguments.program and arguments.programs and arguments.wpa and arguments.extapi):
        parser.error("needs the program, --wpa, --extapi and NAME=FILE.bc")
    with tempfile.TemporaryDirectory() as folder:
        for named in arguments.programs:
            name, file = named.split("=", 1)
            print(json.dumps(measure(arguments, name, file, folder)), flush=True)


if __name__ == "__main__":
    main()
