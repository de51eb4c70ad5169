#!/usr/bin/env python3
"""The eight benchmark graphs through `hornbill lbp`: PARALL for 200 iterations and SEQFIX to 1e-6. One JSON object a line.

    perf/lbp_table.py build/openmp/hornbill > perf/results/NAME.jsonl
"""
import argparse
import json
import os
import subprocess
import tempfile

GRAPHS = ["weblech", "hedc", "luindex", "jspider", "avrora", "xalan", "sunflow", "ftp"]
CASES = {"parall": ["--iterations", "200", "--tolerance", "0"], "seqfix": ["--tolerance", "1e-6"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the built `hornbill`")
    parser.add_argument("--backend", help="default: the program's own")
    parser.add_argument("--precisions", default="double", help="comma-separated; default double")
    parser.add_argument("--commit", default=None, help="the commit that was built")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for graph in GRAPHS:
            file = os.path.join(folder, graph + ".h5")
            subprocess.run([arguments.program, "generate", "--like", graph, file], check=True, stdout=subprocess.DEVNULL)
            for schedule, limits in CASES.items():
                for precision in arguments.precisions.split(","):
                    command = [arguments.program, "lbp", file, "--schedule", schedule, "--precision", precision, "--top", "all", "--count", "1", "--json", *limits]
                    if arguments.backend:
                        command += ["--backend", arguments.backend]
                    done = subprocess.run(command, capture_output=True, text=True)
                    line = json.loads(done.stdout) if done.stdout else {"error": done.stderr.strip()}
                    line.update(case="lbp", graph=graph, commit=arguments.commit, exit_code=done.returncode)
                    for key in ("file", "top"):
                        line.pop(key, None)
                    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        raise SystemExit(str(error))
