"""Compares Espalier with other solvers: `tools/bench --peers DIR`.

DIR contains one program for each solver, named peer_NAME. It is called as

    peer_NAME MATRIX.mtx --sym spd|sym|unsym --threads T

It solves A x = b for one right-hand side and prints one line of JSON with `analyze_s`, `factor_s`, `solve_s`
(seconds), `flops`, `peak_rss_mb` and `backward_error`, or with `error` if it does not accept the matrix.

The solvers take turns, so that disturbances affect all of them alike. Before each run the script touches memory
and returns it: a virtual machine may otherwise charge its first use to the program that comes first.
"""

import json
import math
import mmap
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

PHASES = ("analysis", "factor", "solve")
PEER_KIND = {"llh": "spd", "llt": "sym", "ldlt": "sym", "ldlh": "sym", "lu": "unsym"}
PEER_SECONDS = 1200


class Failure(Exception):
    """A run that gave no result; the text says why."""


def find_peers(folder):
    """Returns {name: program} of the executables peer_NAME in the folder or in its subfolder bin."""
    for place in (Path(folder), Path(folder) / "bin"):
        found = {path.name.removeprefix("peer_"): path for path in sorted(place.glob("peer_*"))
                 if path.is_file() and os.access(path, os.X_OK)}
        if found:
            return found
    raise Failure(f"no executable peer_NAME in {folder} or {folder}/bin")


def touch_memory(size):
    """Touches memory in a process of its own, whose maximum is not inherited by the programs to measure."""
    if size > 0:
        subprocess.run([sys.executable, __file__, str(size)], check=True)


def touch_here(size):
    with mmap.mmap(-1, size) as memory:
        if hasattr(mmap, "MADV_HUGEPAGE"):
            memory.madvise(mmap.MADV_HUGEPAGE)
        for at in range(0, size, mmap.PAGESIZE):
            memory[at] = 1


def run_espalier(command, path, kind, threads):
    with tempfile.TemporaryDirectory() as folder:
        report_path = Path(folder) / "report.json"
        done = subprocess.run([command, "solve", path, "--factorization", kind, "--threads", str(threads), "--quiet",
                               "--json", report_path], capture_output=True, text=True)
        if done.returncode != 0:
            raise Failure(done.stderr.strip())
        report = json.loads(report_path.read_text())
    return {"analysis": report["analysis"]["total_s"], "factor": report["factor"]["total_s"],
            "solve": report["solve"]["time_s"] + report["refine"]["time_s"],
            "gflop": report["analysis"]["flops"] / 1e9, "megabytes": report["peak_memory_bytes"] / 1e6,
            "error": report["backward_error"], "kind": report["settings"]["factorization"]}


def run_peer(program, path, kind, threads):
    try:
        done = subprocess.run([program, path, "--sym", kind, "--threads", str(threads)], capture_output=True,
                              text=True, timeout=PEER_SECONDS)
        result = json.loads(done.stdout.strip().splitlines()[-1])
    except subprocess.TimeoutExpired as late:
        raise Failure(f"not done after {PEER_SECONDS} s") from late
    except (IndexError, ValueError) as unreadable:
        raise Failure(done.stderr.strip() or "no result") from unreadable
    if "error" in result:
        raise Failure(result["error"])
    return {"analysis": result["analyze_s"], "factor": result["factor_s"], "solve": result["solve_s"],
            "gflop": result["flops"] / 1e9, "megabytes": result["peak_rss_mb"], "error": result["backward_error"]}


def matrix_file(command, matrix, folder):
    """Returns the path of a matrix in Matrix Market format: the file itself, or one made by the generator."""
    if Path(matrix).exists():
        return Path(matrix)
    path = Path(folder) / (matrix.replace(":", "_") + ".mtx")
    done = subprocess.run([command, "generate", matrix, "--output", path, "--quiet"], capture_output=True, text=True)
    if done.returncode != 0:
        raise Failure(f"{matrix}: {done.stderr.strip()}")
    return path


def measure_case(command, peers, path, kind, threads, repeat, touched_bytes, show):
    """Returns {solver: medians}, Espalier first. Solvers that fail are named on standard error and left out."""
    runs = {"espalier": []}
    failed = set()
    for turn in range(repeat):
        for solver in ["espalier", *peers]:
            if solver in failed:
                continue
            show(f"{path.name}, threads {threads}, run {turn + 1} of {repeat}: {solver}")
            touch_memory(touched_bytes)
            try:
                result = (run_espalier(command, path, kind, threads) if solver == "espalier"
                          else run_peer(peers[solver], path, PEER_KIND[runs["espalier"][0]["kind"]], threads))
            except Failure as failure:
                if solver == "espalier":
                    raise
                failed.add(solver)
                show("")
                print(f"bench: {solver} leaves out {path.name}: {failure}", file=sys.stderr)
                continue
            runs.setdefault(solver, []).append(result)
    return {solver: medians(results) for solver, results in runs.items()}


def medians(results):
    row = {key: statistics.median(result[key] for result in results) for key in results[0] if key != "kind"}
    row["total"] = statistics.median(sum(result[phase] for phase in PHASES) for result in results)
    return row


def compare_with_peers(folder, command, cases, thread_counts, repeat, touched_bytes, show):
    """Measures each case, a pair of matrix and kind. Returns a list of {matrix, threads, solvers}."""
    peers = find_peers(folder)
    rows = []
    with tempfile.TemporaryDirectory() as made:
        for matrix, kind in cases:
            path = matrix_file(command, matrix, made)
            for threads in thread_counts:
                rows.append({"matrix": path.name if Path(matrix).exists() else matrix, "threads": threads,
                             "solvers": measure_case(command, peers, path, kind, threads, repeat,
                                                     touched_bytes, show)})
    show("")
    return rows


def table(rows):
    """Lines of a Markdown table with the times and, for Espalier, its total relative to the best peer."""
    yield "| matrix | threads | solver | analysis s | factorization s | solve s | total s | Gflop | MB | error |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for row in rows:
        for solver, result in row["solvers"].items():
            yield (f"| {Path(row['matrix']).stem} | {row['threads']} | {solver} | {result['analysis']:.3g} | "
                   f"{result['factor']:.3g} | {result['solve']:.3g} | {result['total']:.3g} | {result['gflop']:.3g} | "
                   f"{result['megabytes']:.0f} | {result['error']:.0e} |")


def ratios(rows):
    """Lines of a Markdown table: Espalier's figures divided by those of the fastest peer of each case."""
    columns = ("total", *PHASES, "gflop", "megabytes")
    yield "| matrix | threads | fastest peer | total | analysis | factorization | solve | flops | memory |"
    yield "|---|---|---|---|---|---|---|---|---|"
    logarithms = {}
    for row in rows:
        peers = {name: result for name, result in row["solvers"].items() if name != "espalier"}
        if not peers:
            continue
        best = min(peers, key=lambda name: peers[name]["total"])
        ratio = {key: row["solvers"]["espalier"][key] / peers[best][key] for key in columns if peers[best][key] > 0}
        for key, value in ratio.items():
            logarithms.setdefault((row["threads"], key), []).append(math.log(value))
        yield (f"| {Path(row['matrix']).stem} | {row['threads']} | {best} | "
               + " | ".join(f"{ratio[key]:.2f}" if key in ratio else "" for key in columns) + " |")
    for threads in sorted({count for count, _ in logarithms}):
        means = [math.exp(statistics.mean(logarithms.get((threads, key), [math.nan]))) for key in columns]
        yield f"| geometric mean | {threads} | | " + " | ".join(f"**{mean:.2f}**" for mean in means) + " |"


if __name__ == "__main__":
    touch_here(int(sys.argv[1]))
