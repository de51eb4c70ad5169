#!/usr/bin/env python3
"""Registers, stack and shared memory of the CUDA kernels in programs. One JSON object a kernel.

    perf/registers.py build/cuda/perf/perf_bp build/cuda/perf/perf_tables > perf/results/NAME.jsonl
    perf/registers.py build/cuda/perf/perf_bp build/cuda/perf/perf_tables --against perf/results/NAME.jsonl

The second form exits with 1 where a kernel takes more registers or stack than it did.

Needs cuobjdump of the CUDA toolkit and c++filt. A kernel is called by its functor's name and template arguments.
"""
import argparse
import json
import re
import subprocess
import sys


def output_of(*command, text=None):
    try:
        return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    except FileNotFoundError:
        raise SystemExit(f"{command[0]} is not on the PATH; cuobjdump is part of the CUDA toolkit, c++filt of binutils")
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"{' '.join(command)}: {error.stderr.strip()}")


def functor_of(kernel):
    """The functor of a Kokkos kernel, without Hornbill's namespaces and what it is launched with."""
    found = re.search(r"Parallel(?:For|Reduce)<(.*)", kernel) or re.search(r"CombinedFunctorReducer<(.*)", kernel)
    if not found or "hornbill" not in kernel:
        return None
    depth, name = 0, []
    for character in found.group(1):
        if character == "," and depth == 0:
            break
        depth += {"<": 1, "(": 1, ">": -1, ")": -1}.get(character, 0)
        name.append(character)
    name = re.sub(r"hornbill::(?:\w+::)*", "", "".join(name))
    return re.sub(r"Kokkos::(?:CudaSpace|Device<[^>]*>)|\(int\)|\(bool\)|\((?:[\w:]+::)?\w+\)(?=\d)", lambda m: "" if m.group().startswith("(") else "Cuda", name).strip()


def kernels_of(program, kernels):
    """Add resources by functor, of several instances the most of each."""
    usage = re.findall(r"Function (\S+?):\n\s*REG:(\d+) STACK:(\d+) SHARED:(\d+) LOCAL:(\d+)", output_of("cuobjdump", "-res-usage", program))
    names = output_of("c++filt", text="\n".join(row[0] for row in usage)).splitlines()
    for name, (_, registers, stack, shared, local) in zip(names, usage, strict=True):
        functor = functor_of(name)
        if functor and not functor.startswith("Kokkos::"):
            line = {"case": "registers", "kernel": functor, "registers": int(registers), "stack": int(stack), "shared": int(shared)}
            before = kernels.get(functor, line)
            kernels[functor] = {key: max(value, before[key]) if isinstance(value, int) else value for key, value in line.items()}


def compare(kernels, file):
    with open(file) as text:
        before = {line["kernel"]: line for line in map(json.loads, text)}
    common = before.keys() & kernels.keys()
    worse = [name for name in sorted(common) if any(kernels[name][what] > before[name][what] for what in ("registers", "stack"))]
    for name in worse:
        print(f"{name}: registers {before[name]['registers']} -> {kernels[name]['registers']}, stack {before[name]['stack']} -> {kernels[name]['stack']}", file=sys.stderr)
    print(f"{len(common)} kernels compared, {len(worse)} take more; {len(kernels) - len(common)} are new, {len(before) - len(common)} are gone", file=sys.stderr)
    return 1 if worse or not common else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="+", help="built with CUDA, not stripped")
    parser.add_argument("--against", metavar="FILE", help="lines of an earlier build")
    arguments = parser.parse_args()
    kernels = {}
    for program in arguments.programs:
        kernels_of(program, kernels)
    if not kernels:
        raise SystemExit("there are no CUDA kernels of Hornbill in " + ", ".join(arguments.programs))
    if arguments.against:
        return compare(kernels, arguments.against)
    for name in sorted(kernels):
        print(json.dumps(kernels[name]))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except OSError as error:
        sys.exit(str(error))
