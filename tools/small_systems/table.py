#!/usr/bin/env python3
"""Prints the table of small systems in docs/performance.md:

    build/release/bin/small_systems --mkl libmkl_rt.so SYSTEM... > docs/data/small_systems.jsonl
    tools/small_systems/table.py docs/data/small_systems.jsonl

The figures are milliseconds of analysis / factorization / refactorization / solve; the last column is the ratio of
Espalier's to the better of the others.
"""

import json
import sys
from pathlib import Path

PHASES = ("analysis_s", "factor_s", "refactor_s", "solve_s")


def milliseconds(seconds):
    return f"{1e3 * seconds:#.3g}".rstrip(".")


def table(lines):
    systems = {}
    for run in map(json.loads, lines):
        systems.setdefault(run["matrix"], {})[run["solver"]] = run
    names = list(dict.fromkeys(solver for runs in systems.values() for solver in runs))
    yield f"| system | n | entries | {' | '.join(names)} | path | ratio |"
    yield "|---" * (5 + len(names)) + "|"
    for system, runs in systems.items():
        if "espalier" not in runs or len(runs) < 2:
            sys.exit(f"table.py: {system} needs runs of espalier and of another solver; it has {', '.join(runs)}")
        own, others = runs["espalier"], [run for solver, run in runs.items() if solver != "espalier"]
        cells = [" / ".join(milliseconds(runs[name][phase]) for phase in PHASES) for name in names]
        ratio = " / ".join(f"{own[phase] / min(run[phase] for run in others):.2f}" for phase in PHASES)
        name = Path(system).name.removesuffix(".mtx")
        yield (f"| {name} | {own['n']:,} | {own['nnz']:,} | {' | '.join(cells)} | {own['path']} | {ratio} |")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lines = Path(sys.argv[1]).read_text().splitlines()
    if not lines:
        sys.exit(f"table.py: {sys.argv[1]} has no runs")
    print("\n".join(table(lines)))
