"""Flows that hear no notice beside `near`: what each of them keeps (docs/reference/near-results.md).

One or three such flows use the new link when a mobile with one or three flows moves there. The script compares the
bytes of the least of them in the 30 s after completion. It is what they receive beside a mobile whose flows are
`near`, over what they receive beside one whose flows are of their own kind. The second table has the bytes of all of
them over their fair share: what they receive without the mobile, divided evenly among all flows.

    python3 examples/near_neighbours.py
    python3 examples/near_neighbours.py --stack ns2-sack1 --at 8.3s
    python3 examples/near_neighbours.py --scheme etcp-v1 --at 8.3s
    python3 examples/near_neighbours.py --scheme sack --at 8.4s --same-at 8.3s

The last one compares their own kind with itself 0.1 s earlier: what it misses, chance misses.
"""

import argparse
import itertools
import json
import os
import statistics
import subprocess
from concurrent.futures import ThreadPoolExecutor

PAIRS = [
    ("200kbit/300ms", "6400kbit/9ms"),
    ("6400kbit/9ms", "200kbit/9ms"),
    ("6400kbit/1ms", "6400kbit/300ms"),
    ("1600kbit/75ms", "6400kbit/75ms"),
    ("400kbit/150ms", "6400kbit/9ms"),
    ("20mbit/30ms", "8mbit/15ms"),
    ("lte", "wifi5-busy"),
    ("wifi5-busy", "lte"),
]
CONTROLS = ["reno", "cubic", "bbr"]


def least(
    segue: str, pair: tuple[str, str], at: str, neighbours: str, sender: list[str]
) -> dict[tuple[str, int], tuple[float, float]]:
    """By kind of handoff and flows of the mobile: bytes of the least neighbour; all bytes over those without it."""
    command = [segue, "compare", *pair, "--kind", "mbb,bbm", "--flows", "1,3", "--at", at, "--notice", "in-band"]
    command += ["--neighbours", neighbours, *sender, "--quiet", "--json", "-"]
    rows = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["rows"]
    told = ((row["kind"], row["flows"], row["neighbours"]) for row in rows)
    return {(kind, flows): (of["least_bytes"], of["kept"]) for kind, flows, of in told}


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--segue", default="segue", help="the program")
    stack = "the stack of `near`; on linux-6.12 with the control of the others"
    parser.add_argument("--stack", default="linux-6.12", help=stack)
    parser.add_argument("--set", action="append", default=[], help="a setting of `near`, such as enact=paper")
    parser.add_argument("--scheme", default="near", help="what the mobile's flows are in place of `near`")
    parser.add_argument("--same-at", help="when it begins for flows of their own kind; as often as --at")
    parser.add_argument("--at", default="8.3s,11.7s", help="when the handoff begins, several separated by commas")
    args = parser.parse_args()
    moments = args.at.split(",")
    earlier = args.same_at.split(",") if args.same_at else moments
    if len(earlier) != len(moments):
        parser.error(f"--same-at has {len(earlier)} times; expected {len(moments)}, as --at has")
    cases = list(itertools.product(PAIRS, zip(moments, earlier), CONTROLS, [1, 3]))

    def kept(case: tuple[tuple[str, str], tuple[str, str], str, int]) -> list[tuple[str, str, int, int, float, float]]:
        pair, times, control, untold = case
        neighbours = f"{untold} {control} 30s"
        own = ["--cc", control] if args.stack.startswith("linux-") else []
        near = ["--stack", args.stack, *own, "--schemes", args.scheme]
        near += [word for setting in args.set for word in ("--set", setting)]
        same = ["--stack", "linux-6.12", "--cc", control, "--schemes", "sack"]
        senders = zip(times, (near, same))
        beside, before = (least(args.segue, pair, at, neighbours, sender) for at, sender in senders)
        ratios = {case: beside[case][0] / max(1.0, before[case][0]) for case in beside}
        fair = {case: beside[case][1] * (untold + case[1]) / untold for case in beside}
        return [(control, *case, untold, ratio, fair[case]) for case, ratio in ratios.items()]

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        rows = [row for rows in pool.map(kept, cases) for row in rows]
    print(f"| beside {args.scheme} | cases | median | 10th percentile | least | 0.8 or more |\n|---|---|---|---|---|---|")

    def line(name: str, ratios: list[float]) -> None:
        tenth = sorted(ratios)[len(ratios) // 10]
        share = sum(ratio >= 0.8 for ratio in ratios) / len(ratios)
        median = statistics.median(ratios)
        print(f"| {name} | {len(ratios)} | {median:.2f} | {tenth:.2f} | {min(ratios):.2f} | {share:.0%} |")

    line("all", [row[4] for row in rows])
    for control in CONTROLS:
        line(control, [row[4] for row in rows if row[0] == control])
    for kind in ("mbb", "bbm"):
        line(kind, [row[4] for row in rows if row[1] == kind])
    for flows, untold in itertools.product((1, 3), (1, 3)):
        line(f"{untold} untold, {flows} near", [row[4] for row in rows if row[2:4] == (flows, untold)])
    print("\n| over the fair share | cases | median | 10th percentile | least | 0.8 or more |")
    print("|---|---|---|---|---|---|")
    line("all", [row[5] for row in rows])
    for control in CONTROLS:
        line(control, [row[5] for row in rows if row[0] == control])


if __name__ == "__main__":
    main()
