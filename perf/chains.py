#!/usr/bin/env python3
"""How the time of exact answers grows with the length of a chain: `hornbill marginals` and `hornbill map`. One JSON object a line.

    perf/chains.py build/openmp/hornbill > perf/results/NAME.jsonl
    perf/chains.py build/openmp/hornbill --lengths 1000,10000 --backend serial

`perf/tables.py --chains FILE` makes a table of them.
"""
import argparse
import json
import os
import subprocess
import tempfile

PHASES = ["order_seconds", "plan_seconds", "setup_seconds", "seconds"]


def write_chain(file, length):
    with open(file, "w") as out:
        out.write(f"MARKOV\n{length}\n{'2 ' * length}\n{length}\n1 0\n")
        out.writelines(f"2 {v} {v + 1}\n" for v in range(length - 1))
        out.write("2 0.3 0.7\n" + "4 0.9 0.1 0.2 0.8\n" * (length - 1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the built `hornbill`")
    parser.add_argument("--lengths", default="10000,100000,1000000", help="comma-separated; default 10000,100000,1000000")
    parser.add_argument("--backend", help="default: the program's own")
    parser.add_argument("--repeats", type=int, default=3, help="of which the fastest is kept; default 3")
    parser.add_argument("--commit", default=None, help="the commit that was built")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for length in map(int, arguments.lengths.split(",")):
            file = os.path.join(folder, f"chain{length}.uai")
            write_chain(file, length)
            for command, options in (("marginals", ["--top", "all", "--count", "1"]), ("map", [])):
                runs = []
                for _ in range(arguments.repeats):
                    done = subprocess.run([arguments.program, command, file, *options, "--json", *(["--backend", arguments.backend] if arguments.backend else [])],
                                          capture_output=True, text=True, check=True)
                    runs.append(json.loads(done.stdout))
                times = min(({phase: run[phase] for phase in PHASES if phase in run} for run in runs), key=lambda run: sum(run.values()))
                print(json.dumps({"case": "chains", "command": command, "variables": length, "backend": runs[0]["backend"], "commit": arguments.commit, **times}), flush=True)


if __name__ == "__main__":
    try:
        main()
    except (OSError, subprocess.CalledProcessError) as error:
        raise SystemExit(str(error))
