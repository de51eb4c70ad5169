"""What perf scripts share that start from clauses: the program's answers, and clauses with what belongs to them."""
import glob
import json
import os
import subprocess


def ask(*command):
    """What a command prints as JSON; ends with its own message where it fails."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


def sets_of_clauses(folder):
    """(name, clauses, alarms, rules) of every NAME.named_cons_all.txt in a folder; none where there is no folder."""
    for clauses in sorted(glob.glob(os.path.join(folder, "*.named_cons_all.txt"))) if folder else []:
        name = clauses.removesuffix(".named_cons_all.txt")
        yield os.path.basename(name), clauses, name + ".base_queries.txt", name + ".rule-prob.txt"


def print_header(columns):
    """Of a Markdown table."""
    print("| " + " | ".join(columns) + " |")
    print("| " + " | ".join(["---"] * len(columns)) + " |")
