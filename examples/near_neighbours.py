"""Flows that hear no notice beside `near`: what each of them keeps (docs/reference/near-results.md).

One or three such flows use the new link when a mobile with one or three flows moves there. The script compares the
bytes of the least of them in the 30 s after completion. It is what they receive beside a mobile whose flows are
`near`, over what they receive beside one whose flows are of their own kind. The second table has the bytes of all of
them over their fair share: what they receive without the mobile, divided evenly among all flows.

    python3 examples/near_neighbours.py
    python3 examples/near_neighbours.py --stack ns2-sack1 --at 8.3s
    python3 examples/near_neighbours.py --scheme etcp-v1 --at 8.3s
    python3 examples/near_neighbours.py --scheme sack --at 8.4s --same-at 8.3s
    python3 examples/near_neighbours.py --mean --list --at 5.1s,8.3s,11.7s,14.9s

The last but one compares their own kind with itself 0.1 s earlier: what it misses, chance misses. With --mean a case is
the mean over all handoff times, which leaves less to chance. --list adds the cases below 0.8, with shares of the link.
"""

import argparse
import itertools
import json
import os
import statistics
import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

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


class Case(NamedTuple):
    """Flows that hear no notice beside a mobile, at one handoff time or in the mean over several."""

    control: str
    kind: str
    flows: int
    untold: int
    pair: tuple[str, str]
    # Bytes of the least of them beside `near`, and beside flows of their own kind.
    beside: float
    before: float
    # Bytes of all of them over their fair share, in the same two cases.
    fair: float
    fair_before: float

    def ratio(self) -> float:
        """The first over the second."""
        return self.beside / max(1.0, self.before)


def means(cases: list[Case]) -> list[Case]:
    """Over the handoff times of each case."""
    alike: dict[tuple[str, str, int, int, tuple[str, str]], list[Case]] = {}
    for case in cases:
        alike.setdefault(case[:5], []).append(case)
    return [Case(*of, *(statistics.fmean(values) for values in zip(*(case[5:] for case in some)))) for of, some in alike.items()]


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--segue", default="segue", help="the program")
    stack = "the stack of `near`; on linux-6.12 with the control of the others"
    parser.add_argument("--stack", default="linux-6.12", help=stack)
    parser.add_argument("--set", action="append", default=[], help="a setting of `near`, such as enact=paper")
    parser.add_argument("--scheme", default="near", help="what the mobile's flows are in place of `near`")
    parser.add_argument("--same-at", help="when it begins for flows of their own kind; as often as --at")
    parser.add_argument("--mean", action="store_true", help="a case is the mean over all handoff times")
    parser.add_argument("--list", action="store_true", help="list the cases below 0.8, too")
    parser.add_argument("--at", default="8.3s,11.7s", help="when the handoff begins, several separated by commas")
    args = parser.parse_args()
    moments = args.at.split(",")
    earlier = args.same_at.split(",") if args.same_at else moments
    if len(earlier) != len(moments):
        parser.error(f"--same-at has {len(earlier)} times; expected {len(moments)}, as --at has")
    cases = list(itertools.product(PAIRS, zip(moments, earlier), CONTROLS, [1, 3]))

    def kept(case: tuple[tuple[str, str], tuple[str, str], str, int]) -> list[Case]:
        pair, times, control, untold = case
        neighbours = f"{untold} {control} 30s"
        own = ["--cc", control] if args.stack.startswith("linux-") else []
        near = ["--stack", args.stack, *own, "--schemes", args.scheme]
        near += [word for setting in args.set for word in ("--set", setting)]
        same = ["--stack", "linux-6.12", "--cc", control, "--schemes", "sack"]
        senders = zip(times, (near, same))
        beside, before = (least(args.segue, pair, at, neighbours, sender) for at, sender in senders)
        share = {case: (untold + case[1]) / untold for case in beside}
        return [
            Case(control, *case, untold, pair, least, before[case][0], of_all * share[case], before[case][1] * share[case])
            for case, (least, of_all) in beside.items()
        ]

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        rows = [row for rows in pool.map(kept, cases) for row in rows]
    if args.mean:
        rows = means(rows)
    print(f"| beside {args.scheme} | cases | median | 10th percentile | least | 0.8 or more |\n|---|---|---|---|---|---|")

    def line(name: str, ratios: list[float]) -> None:
        tenth = sorted(ratios)[len(ratios) // 10]
        share = sum(ratio >= 0.8 for ratio in ratios) / len(ratios)
        median = statistics.median(ratios)
        print(f"| {name} | {len(ratios)} | {median:.2f} | {tenth:.2f} | {min(ratios):.2f} | {share:.0%} |")

    line("all", [row.ratio() for row in rows])
    for control in CONTROLS:
        line(control, [row.ratio() for row in rows if row.control == control])
    for kind in ("mbb", "bbm"):
        line(kind, [row.ratio() for row in rows if row.kind == kind])
    for flows, untold in itertools.product((1, 3), (1, 3)):
        some = [row.ratio() for row in rows if (row.flows, row.untold) == (flows, untold)]
        line(f"{untold} untold, {flows} near", some)
    print("\n| over the fair share | cases | median | 10th percentile | least | 0.8 or more |")
    print("|---|---|---|---|---|---|")
    line("all", [row.fair for row in rows])
    for control in CONTROLS:
        line(control, [row.fair for row in rows if row.control == control])
    if not args.list:
        return
    print("\n| links | handoff | near | untold | ratio | over the fair share | the same beside their own kind |")
    print("|---|---|---|---|---|---|---|")
    for row in sorted((row for row in rows if row.ratio() < 0.8), key=Case.ratio):
        links = f"{' -> '.join(row.pair)} | {row.kind} | {row.flows} | {row.untold} {row.control}"
        print(f"| {links} | {row.ratio():.2f} | {row.fair:.2f} | {row.fair_before:.2f} |")


if __name__ == "__main__":
    main()
