#!/usr/bin/env python3
"""Makes the tables of perf/RESULTS.md anew, from the lines in perf/results.

    perf/results.py             rewrites them
    perf/results.py --check     exits with 1 where one is not what its command prints, and changes nothing

A table stands between `<!-- table: COMMAND -->` and `<!-- end of table -->`, where COMMAND is a script of perf/ and its arguments; names of
files are those in perf/results.
"""
import argparse
import pathlib
import re
import shlex
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
PAGE = FOLDER / "RESULTS.md"
TABLE = re.compile(r"<!-- table: (?P<command>.*?) -->\n(?P<text>.*?)<!-- end of table -->", re.DOTALL)


def table_of(command):
    script, *words = shlex.split(command)
    arguments = [str(FOLDER / "results" / word) if (FOLDER / "results" / word).is_file() else word for word in words]
    done = subprocess.run([sys.executable, str(FOLDER / script), *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{PAGE.name}: `{command}` failed: {done.stderr.strip()}")
    if not done.stdout.strip():
        raise SystemExit(f"{PAGE.name}: `{command}` prints nothing")
    return f"\n{done.stdout.strip()}\n\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    before = PAGE.read_text()
    stale = []

    def remade(match):
        text = table_of(match["command"])
        if text != match["text"]:
            stale.append(match["command"])
        return f"<!-- table: {match['command']} -->\n{text}<!-- end of table -->"

    after = TABLE.sub(remade, before)
    if not TABLE.search(before) or before.count("<!-- table:") != before.count("<!-- end of table -->"):
        raise SystemExit(f"{PAGE.name}: a table has no beginning or no end")
    if arguments.check:
        for command in stale:
            print(f"{PAGE.name}: the table of `{command}` is stale; run perf/results.py", file=sys.stderr)
        return 1 if stale else 0
    if stale:
        PAGE.write_text(after)
    print(f"{len(stale)} of {len(TABLE.findall(before))} tables rewritten")


if __name__ == "__main__":
    sys.exit(main())
