#!/usr/bin/env python3
"""Fuzzes the readers, beginning from the kept corpus and the seeds.

    cmake --preset fuzz && cmake --build --preset fuzz
    tests/fuzz/fuzz.py run build/fuzz                          every reader, some seconds each
    tests/fuzz/fuzz.py run build/fuzz uai bif --inputs 1000000
    tests/fuzz/fuzz.py keep build/fuzz uai --seconds 600       and what reaches new code goes into the corpus

An input that a reader does not survive is left in build/fuzz/found; `build/fuzz/tests/fuzz/fuzz_uai FILE` runs it again.
"""
import argparse
import concurrent.futures
import hashlib
import io
import os
import re
import subprocess
import sys
import tarfile
import tempfile

import seeds

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
CORPUS = os.path.join(HERE, "corpus.tar.xz")
MAX_BYTES = {"h5": 1 << 16, "h5_arrays": 512, "constraints_h5": 512, "circuit_h5": 512, "checkpoint_h5": 512, "circuit_nodes_h5": 512, "samples_h5": 512}


def golden_files(endings):
    for folder, _, files in os.walk(os.path.join(SOURCE, "inputs", "golden")):
        for file in sorted(files):
            if file.endswith(tuple(endings)):
                with open(os.path.join(folder, file), "rb") as content:
                    yield content.read()


def read_corpus():
    """Bytes by name, `target/name`."""
    if not os.path.exists(CORPUS):
        return {}
    with tarfile.open(CORPUS) as archive:
        return {member.name: archive.extractfile(member).read() for member in archive}


def write_corpus(inputs):
    with tarfile.open(CORPUS + ".tmp", "w:xz", preset=9) as archive:
        for name in sorted(inputs):
            member = tarfile.TarInfo(name)
            member.size = len(inputs[name])
            archive.addfile(member, io.BytesIO(inputs[name]))
    os.replace(CORPUS + ".tmp", CORPUS)


def put(folder, contents):
    for content in contents:
        with open(os.path.join(folder, hashlib.sha1(content).hexdigest()[:16]), "wb") as file:
            file.write(content)


def fill(folder, target, corpus):
    put(folder, (content for name, content in corpus.items() if name.startswith(target + "/")))
    put(folder, (text.encode("latin-1") for text in seeds.SEEDS.get(target, [])))
    put(folder, golden_files(seeds.GOLDEN.get(target, ["no file"])))


def write_dictionary(folder, target):
    path = os.path.join(folder, "words")
    with open(path, "w") as out:
        out.writelines(f'"{word}"\n' for word in [*seeds.WORDS.get(target, []), *seeds.NUMBERS])
    return path


def program_of(build, target):
    return os.path.join(build, "tests", "fuzz", "fuzz_" + target)


def run(build, target, corpus, limits, folder):
    """Tries inputs by one process. Returns how many, how many edges of the program they cover, and the output where something was found."""
    found = os.path.join(build, "found", "")
    inputs = os.path.join(folder, "inputs")
    os.makedirs(found, exist_ok=True)
    os.makedirs(inputs)
    fill(inputs, target, corpus)
    command = [program_of(build, target), f"-artifact_prefix={found}{target}-", f"-max_len={MAX_BYTES.get(target, 4096)}", "-rss_limit_mb=2048", "-print_final_stats=1",
               "-use_value_profile=1", f"-dict={write_dictionary(folder, target)}", *limits, inputs]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    tried = re.search(r"stat::number_of_executed_units: (\d+)", done.stdout)
    covered = re.findall(r"cov: (\d+)", done.stdout)
    return int(tried[1]) if tried else 0, int(covered[-1]) if covered else 0, "" if done.returncode == 0 else "\n".join(done.stdout.splitlines()[-60:])


def run_and_report(arguments, target, corpus):
    """The same by all processes, which share the inputs. Returns whether all was well."""
    count = arguments.processes
    limits = [f"-timeout={arguments.timeout}", f"-runs={-(-arguments.inputs // count)}" if arguments.inputs else f"-max_total_time={arguments.seconds}"]
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder, concurrent.futures.ThreadPoolExecutor(count) as pool:
        results = list(pool.map(lambda process: run(arguments.build, target, corpus, limits, os.path.join(folder, str(process))), range(count)))
        tried, covered, outputs = zip(*results)
        found = [output for output in outputs if output]
        print(f"{target:10} {sum(tried):9} inputs, {max(covered):5} edges of the program, {'FOUND something' if found else 'nothing found'}", *found, sep="\n", flush=True)
        if arguments.command == "keep" and not found:
            merge(arguments.build, target, corpus, folder)
            write_corpus(corpus)
    return not found


def merge(build, target, corpus, folder):
    """Puts into the corpus what covers code that fewer inputs do not."""
    kept = os.path.join(folder, "kept")
    os.makedirs(kept)
    subprocess.run([program_of(build, target), "-merge=1", f"-max_len={MAX_BYTES.get(target, 4096)}", "-timeout=1", kept, *(os.path.join(folder, process, "inputs") for process in sorted(os.listdir(folder)) if process != "kept")], check=True, capture_output=True)
    for name in [name for name in corpus if name.startswith(target + "/")]:
        del corpus[name]
    for name in os.listdir(kept):
        with open(os.path.join(kept, name), "rb") as file:
            content = file.read()
        corpus[f"{target}/{hashlib.sha1(content).hexdigest()[:16]}"] = content


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["run", "keep"])
    parser.add_argument("build", help="the folder that `cmake --preset fuzz` made")
    parser.add_argument("targets", nargs="*", help="all, if none is given")
    parser.add_argument("--seconds", type=int, default=4, help="for each target (default 4)")
    parser.add_argument("--inputs", type=int, help="how many, in place of a time")
    parser.add_argument("--timeout", type=int, default=1, help="seconds that one input may take (default 1)")
    parser.add_argument("--processes", type=int, default=1, help="which share the inputs of a target (default 1)")
    arguments = parser.parse_args()
    built = sorted(name[len("fuzz_"):] for name in os.listdir(os.path.join(arguments.build, "tests", "fuzz")) if name.startswith("fuzz_") and name != "fuzz_readers")
    unknown = set(arguments.targets) - set(built)
    if unknown:
        parser.error(f"there is no target {', '.join(sorted(unknown))}; there are {', '.join(built)}")
    corpus = read_corpus()
    return 0 if all([run_and_report(arguments, target, corpus) for target in arguments.targets or built]) else 1


if __name__ == "__main__":
    sys.exit(main())
