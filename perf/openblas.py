#!/usr/bin/env python3
"""Sums of circuits on a CPU beside OpenBLAS's products of matrices of the same sizes, with one thread and with more.

    perf/openblas.py build/openmp/perf/perf_circuit --threads 1 2 > perf/results/NAME.jsonl
    perf/openblas.py --table perf/results/NAME.jsonl

A step of a hidden Markov model with S states and 512 samples is a product of S by S and S by 512 numbers of single precision: `perf_circuit`
says how many such operations a second the whole forward pass does, and numpy how many OpenBLAS does. numpy is PyPI's, which brings OpenBLAS.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys

SAMPLES = 512

# Run by itself, since OpenBLAS reads the number of threads as it is loaded.
PRODUCT = """
import sys, time
import numpy
states, samples, repeats = map(int, sys.argv[1:])
weights, values = (numpy.random.default_rng(1).random(shape, dtype=numpy.float32) for shape in ((states, states), (states, samples)))
out = numpy.empty((states, samples), dtype=numpy.float32)
for _ in range(repeats + 1):
    start = time.perf_counter()
    numpy.matmul(weights, values, out=out)
    print(time.perf_counter() - start)
print(numpy.show_config(mode="dicts")["Build Dependencies"]["blas"].get("openblas configuration", ""))
"""


def run(command, threads):
    """What a command prints with so many threads."""
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": str(threads), "OMP_PROC_BIND": "false"}
    done = subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{command[0]}: failed: {done.stderr[-500:]}")
    return done.stdout.splitlines()


def of_openblas(states, threads):
    """Operations a second, and the library's name."""
    *seconds, library = run([sys.executable, "-c", PRODUCT, states, SAMPLES, max(5, 40_000_000 // states**2)], threads)
    if not library:
        raise SystemExit("numpy does not use OpenBLAS; install PyPI's")
    return 2 * states * states * SAMPLES / statistics.median(map(float, seconds[1:])), library.split(" ", 2)[:2]


def measure(arguments):
    for states in arguments.states:
        for threads in arguments.threads:
            blas, library = of_openblas(states, threads)
            ours = json.loads(run([arguments.program, f"hmm,{states}", "--repeats", 5], threads)[0])
            print(json.dumps({"case": "openblas", "states": states, "threads": threads, "openblas": " ".join(library), "openblas_operations_a_second": blas,
                              "operations_a_second": 1e12 * ours["tera_operations_a_second"], "commit": ours["commit"]}), flush=True)


def table(files):
    lines = [json.loads(line) for file in files for line in open(file)]
    print("| states | threads | OpenBLAS, GFLOP/s | forward pass, GFLOP/s | of OpenBLAS's | of one thread's |")
    print("| --- | --- | --- | --- | --- | --- |")
    one = {line["states"]: line["operations_a_second"] for line in lines if line["threads"] == 1}
    for line in lines:
        ours, theirs = line["operations_a_second"], line["openblas_operations_a_second"]
        print(f"| {line['states']} | {line['threads']} | {theirs / 1e9:.1f} | {ours / 1e9:.1f} | {ours / theirs:.2f} | {ours / one[line['states']]:.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", help="perf_circuit")
    parser.add_argument("--states", type=int, nargs="+", default=[512, 2048])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="numbers of threads; 1 among them")
    parser.add_argument("--table", nargs="+", metavar="FILE", help="print a table of earlier runs")
    arguments = parser.parse_args()
    if arguments.table:
        return table(arguments.table)
    if not arguments.program:
        parser.error("perf_circuit's place is needed")
    if 1 not in arguments.threads:
        parser.error("--threads: 1 is needed, for the others are divided by it")
    return measure(arguments)


if __name__ == "__main__":
    main()
