"""Evaluates the output of the guest of tools/numa-guest. Compares Espalier's report with the definition of each
--alloc, and with the memory and threads of the process as seen by the guest's kernel. Reads the files that
tools/guest/init wrote, and prints one line with numbers for each check.
"""

import json
import re
from collections import Counter

POLICIES = ("global", "local", "interleave")
PAGE = 4096
HUGE_PAGE = 2 << 20
MIB = 1 << 20


class Verdict:
    """Prints each check and counts the failures."""

    def __init__(self):
        self.failed = 0
        self.made = 0

    def check(self, holds, what):
        self.made += 1
        self.failed += not holds
        print(f"  {'ok  ' if holds else 'FAIL'} {what}", flush=True)
        return holds


def judge(out, nodes, cores, test_programs):
    """Returns whether every check holds for a guest of `nodes` nodes with `cores` cores each."""
    verdict = Verdict()
    topology(verdict, out, nodes, cores)
    for program in test_programs:
        tests(verdict, out, program)
    solves = {policy: solve(verdict, out, policy, nodes * cores) for policy in POLICIES}
    if all(solves.values()):
        sums = {(out / f"{policy}.md5").read_text() for policy in POLICIES}
        verdict.check(len(sums) == 1, "the solution has the same bits with every allocation")
        for policy in POLICIES:
            placement(verdict, policy, *solves[policy], nodes, cores)
        local, mixed, one = (solves[policy][0]["factor"]["local_share"] for policy in ("local", "interleave", "global"))
        verdict.check(local > mixed + 0.1 and local > one + 0.1,
                      f"local has the largest local share: {local:.3f}, interleave {mixed:.3f}, global {one:.3f}")
    incomplete(verdict, out, nodes)
    dense(verdict, out, nodes)
    print(f"{verdict.made - verdict.failed} of {verdict.made} checks hold")
    return verdict.failed == 0


# ---- the machine and the tests -------------------------------------------------------------------------------

def topology(verdict, out, nodes, cores):
    print("The machine")
    if not verdict.check(read(out / "machine.status") == "0", "espalier machine runs"):
        return print(read(out / "machine.txt"))
    machine = json.loads(read(out / "machine.json"))
    seen = machine["numa_nodes"]
    verdict.check(len(seen) == nodes and all(len(node["cores"]) == cores for node in seen),
                  f"{len(seen)} nodes with " + ", ".join(f"{len(node['cores'])} cores" for node in seen))
    for index, node in enumerate(seen):
        distances = [int(number) for number in read(out / f"nodes/node{index}.distance").split()]
        verdict.check(node["distances"] == distances,
                      f"distances from node {index} equal those of the kernel: {distances}")
    for kernel in (machine.get("numa_factors") or {}).get("kernels", []):
        table = kernel["alone"]
        verdict.check(len(table) == nodes * cores and all(len(row) == nodes and min(row) > 0 for row in table),
                      f"NUMA factors of {kernel['kernel']} exist for each core and data node: "
                      + "; ".join(" ".join(f"{factor:.2f}" for factor in row) for row in table))


def tests(verdict, out, program):
    print(program)
    if not (out / f"{program}.json").exists():
        return verdict.check(False, f"it ends with status {read(out / f'{program}.status')}: " + read(out / f"{program}.txt"))
    results = [test for suite in json.loads(read(out / f"{program}.json"))["testsuites"] for test in suite["testsuite"]]
    name = "{0[classname]}.{0[name]}".format
    failed = [name(test) for test in results if "failures" in test]
    skipped = [name(test) for test in results if test["result"] == "SKIPPED"]
    verdict.check(results and not failed and read(out / f"{program}.status") == "0",
                  f"{len(failed)} of {len(results)} tests fail: {' '.join(failed)}" if failed else
                  f"{len(results)} tests pass")
    if skipped: # tests that need another machine
        print(f"       {len(skipped)} skipped: {' '.join(skipped)}")
    for test in results:
        for failure in test.get("failures", []):
            print("       | " + failure["failure"].replace("\n", "\n       | "))


# ---- one solve -----------------------------------------------------------------------------------------------

def solve(verdict, out, policy, workers):
    """Returns the report and the arenas as seen by the kernel, or None if the solve failed."""
    print(f"solve --alloc {policy}")
    if not verdict.check(read(out / f"{policy}.status") == "0", "it ends with status 0"):
        print(read(out / f"{policy}.txt"))
        return None
    report = json.loads(read(out / f"{policy}.json"))
    samples = read(out / f"{policy}.watch").split("sample\n")
    bound = bound_threads(samples)
    expected = {("espalier" if worker == 0 else f"espalier-{worker}"): str(worker) for worker in range(workers)}
    verdict.check(bound == expected, "workers are bound to cores " + ", ".join(
        f"{bound.get(name, 'none')}" for name in expected))
    if not verdict.check(report["factor"].get("local_share", -1) >= 0, "the report contains local shares"):
        return None
    return report, arenas(samples, policy)


def bound_threads(samples):
    """Returns the core of each thread that was bound to a single core, by thread name."""
    return {name: cores for sample in samples
            for name, cores in re.findall(r"Name:\s+(\S+)\nCpus_allowed_list:\s+(\d+)\n", sample)}


def arenas(samples, policy):
    """Returns the bytes on each node for each mapping that can be an arena of coefficients: all its pages exist
    and are placed according to the policy, except for less than a huge page at its end, because its size is rounded up.
    Buffers of BLAS are placed like local arenas but are almost empty. The
    global arena is the largest of many mappings without a policy. Uses the sample with the most bytes.
    """
    kind = {"global": "default", "local": "local", "interleave": r"interleave:\S+"}[policy]
    best = []
    for sample in samples:
        sizes = {start: int(end, 16) - int(start, 16)
                 for start, end in re.findall(r"^([0-9a-f]+)-([0-9a-f]+) rw-p", sample, re.M)}
        found = []
        for start, facts in re.findall(rf"^([0-9a-f]+) {kind} (anon=.*)", sample, re.M):
            on = Counter({int(node): int(pages) * PAGE for node, pages in re.findall(r"N(\d+)=(\d+)", facts)})
            if int(start, 16) % HUGE_PAGE == 0 and 0 <= sizes.get(start, 0) - on.total() < HUGE_PAGE:
                found.append(on)
        if policy == "global":
            found = sorted(found, key=Counter.total)[-1:]
        best = max(best, found, key=lambda arenas: sum(map(Counter.total, arenas)))
    return best


def placement(verdict, policy, report, mappings, nodes, cores):
    print(f"placement with {policy}")
    reported = report["factor"]["node_bytes"]
    wanted = report["analysis"]["factor_bytes"]
    kernel = [sum(mapping[node] for mapping in mappings) for node in range(nodes)]
    slack = HUGE_PAGE * max(1, len(mappings))
    verdict.check(abs(sum(reported) - wanted) <= 0.01 * wanted,
                  f"panels on the nodes: {in_mib(reported)} of {wanted / MIB:.1f} MiB")
    verdict.check(len(reported) == nodes and all(abs(a - b) <= slack for a, b in zip(reported, kernel)),
                  f"the kernel agrees: {in_mib(kernel)} in {count(len(mappings), 'arena')}")
    share = report["factor"]["local_share"]
    by_worker = report["factor"]["local_share_of_worker"]
    shares = f"local share {share:.3f}, of workers " + " ".join(f"{one:.3f}" for one in by_worker)
    parts = [bytes / sum(reported) for bytes in reported]
    if policy == "global":
        verdict.check(max(parts) > 0.99, f"all on one node: {' '.join(f'{part:.3f}' for part in parts)}")
        home = parts.index(max(parts))
        verdict.check(all(abs(one - (worker // cores == home)) < 0.01 for worker, one in enumerate(by_worker)),
                      f"panels are local only for the workers of node {home}: {shares}")
    elif policy == "interleave":
        verdict.check(all(abs(part - 1 / nodes) < 0.1 for part in parts),
                      f"an equal part on each node: {' '.join(f'{part:.3f}' for part in parts)}")
        verdict.check(all(abs(one - 1 / nodes) < 0.2 for one in by_worker), f"local shares are as expected by chance: {shares}")
    else:
        homes = Counter(mapping.most_common(1)[0][0] for mapping in mappings)
        whole = all(len(+mapping) == 1 for mapping in mappings)
        verdict.check(whole and homes == {node: cores for node in range(nodes)},
                      "each worker has an arena entirely on its node: " + ", ".join(
                          f"{homes[node]} on node {node}" for node in range(nodes)))
        verdict.check(min(parts) > 0.2 / nodes, f"all nodes hold panels: {' '.join(f'{part:.3f}' for part in parts)}")
        verdict.check(share > 1 / nodes + 0.1, f"local shares are higher than by chance: {shares}")


def incomplete(verdict, out, nodes):
    """Pages of incomplete factors: those of the dry run with --alloc local, equal parts with interleave."""
    reports = {}
    for policy in ("local", "interleave"):
        print(f"incomplete factors with nas, --alloc {policy}")
        if verdict.check(read(out / f"ilu-{policy}.status") == "0", "it ends with status 0"):
            reports[policy] = json.loads(read(out / f"ilu-{policy}.json"))["incomplete"]
        else:
            print(read(out / f"ilu-{policy}.txt"))
    if len(reports) < 2:
        return
    wanted, found = reports["local"]["affinity_bytes"], reports["local"]["node_bytes"]
    # Runs may begin and end inside of pages.
    verdict.check(len(wanted) == len(found) == nodes and all(abs(a - b) <= 0.1 * sum(wanted) for a, b in zip(wanted, found)),
                  f"pages are where the dry run wants them: {in_pages(found)} of {in_pages(wanted)}, "
                  f"{in_pages([reports['local']['moved_bytes']])} moved")
    verdict.check(min(wanted) > 0.25 * sum(wanted) / nodes, "each node writes a part of them")
    parts = [bytes / sum(reports["interleave"]["node_bytes"]) for bytes in reports["interleave"]["node_bytes"]]
    verdict.check(len(parts) == nodes and all(abs(part - 1 / nodes) < 0.2 for part in parts),
                  f"interleaved: {in_pages(reports['interleave']['node_bytes'])}")
    verdict.check(read(out / "ilu-local.md5") == read(out / "ilu-interleave.md5"), "the solutions have the same bits")


def dense(verdict, out, nodes):
    """Tiles of a dense matrix on the nodes that move_pages reports, and the tasks that write them. Under strict policies
    every task runs on the node of its tile; under one that knows no nodes, those of global tiles do not."""
    def report(name):
        print(f"dense {name}")
        if verdict.check(read(out / f"dense-{name}.status") == "0", "it ends with status 0"):
            return json.loads(read(out / f"dense-{name}.json"))
        print(read(out / f"dense-{name}.txt"))
        return None

    def placed(found):
        tiles = " + ".join(map(str, found["tiles_of_node"]))
        return (f"{tiles} tiles on the nodes, {found['followed_tiles']} not with their owner, "
                f"{found['local_share']:.3f} of the tasks at their tile")

    for init in ("cyclicnuma", "randnuma"):
        found = report(f"{init}-local")
        if found:
            tiles = found["tiles_of_node"]
            fair = sum(tiles) / nodes
            spread = 1 if init == "cyclicnuma" else 0.5 * fair
            verdict.check(sum(tiles) == 210 and all(abs(one - fair) <= spread for one in tiles)
                          and found["followed_tiles"] == 0 and found["local_share"] == 1,
                          f"tiles are dealt to the nodes and tasks follow: {placed(found)}")
        dealt = found and found["tiles_of_node"]
        found = report(f"{init}-global")
        if found and dealt:
            tiles = found["tiles_of_node"]
            verdict.check(max(tiles) == 210 and found["followed_tiles"] == 210 - dealt[tiles.index(210)]
                          and found["local_share"] == 1, f"tasks follow all pages to one node: {placed(found)}")
    found = report("nas-global")
    if found:
        verdict.check(max(found["tiles_of_node"]) == 210 and found["followed_tiles"] > 0 and found["local_share"] == 1,
                      f"tasks follow all pages to one node: {placed(found)}")
    found = report("dynamic-global")
    if found:
        verdict.check(max(found["tiles_of_node"]) == 210 and found["followed_tiles"] == 0 and found["local_share"] < 0.9,
                      f"a policy that does not follow pages works from all nodes: {placed(found)}")


def in_pages(amounts):
    return " + ".join(f"{amount / PAGE:.0f}" for amount in amounts) + " pages"


def read(path):
    return path.read_text(errors="replace").strip() if path.exists() else ""


def count(number, noun):
    return f"{number} {noun}{'' if number == 1 else 's'}"


def in_mib(amounts):
    return " + ".join(f"{amount / MIB:.1f}" for amount in amounts) + " MiB"
