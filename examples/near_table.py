"""`near` beside regular TCP on twenty ordered pairs of links: the smaller tables of docs/reference/near-results.md.

Make-before-break and a break of 1 s, 1 to 8 flows, three handoff times: 480 handoffs. Words that this script does not
know go to `segue compare`.

    python3 examples/near_table.py
    python3 examples/near_table.py --stack linux-6.12 --set enact=paper
    python3 examples/near_table.py --set told-rate=0.5
"""

import argparse
import csv
import io
import math
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor

PAIRS = [
    ("200kbit/300ms", "6400kbit/9ms"),
    ("400kbit/150ms", "6400kbit/9ms"),
    ("1600kbit/75ms", "6400kbit/75ms"),
    ("200kbit/9ms", "6400kbit/9ms"),
    ("1600kbit/300ms", "6400kbit/300ms"),
    ("6400kbit/1ms", "6400kbit/300ms"),
    ("1600kbit/9ms", "1600kbit/300ms"),
    ("6400kbit/37ms", "6400kbit/300ms"),
    ("700kbit/75ms", "11000kbit/10ms"),
    ("2000kbit/50ms", "54000kbit/2ms"),
]
ASKED = "--both-ways --kind mbb,bbm --disconnect 1s --flows 1,2,4,8 --at 2.55s..8.55s/3s --notice in-band".split()

Row = dict[str, str]


def handoffs(segue: str, *words: str) -> list[Row]:
    """A row for each handoff and scheme of a command."""
    try:
        told = subprocess.run(
            [segue, *words, "--quiet", "--origin=none", "--rows", "-"], capture_output=True, text=True
        )
    except FileNotFoundError:
        raise SystemExit(f"there is no program {segue}; expected --segue target/debug/segue, for example") from None
    if told.returncode:
        raise SystemExit(told.stderr.strip())
    # Warnings of early handoffs are the same in each run.
    return list(csv.DictReader(io.StringIO(told.stdout)))


def seconds(word: str) -> float:
    """A time; a transfer that has not ended takes for ever."""
    return float(word) if word not in ("", "null") else math.inf


def two(ratios: list[float], digits: int = 3) -> str:
    """Median and 90th percentile, by rank."""
    ordered = sorted(ratios)
    return " / ".join(f"{ordered[int(share * (len(ordered) - 1))]:.{digits}f}" for share in (0.5, 0.9))


def main() -> None:
    """Prints a table for each scheme but the first, which is regular TCP."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--segue", default="segue", help="the program")
    parser.add_argument("--schemes", default="sack,near", help="schemes; the others are compared with the first")
    args, words = parser.parse_known_args()
    words += ["--schemes", args.schemes]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        told = pool.map(lambda pair: handoffs(args.segue, "compare", *pair, *ASKED, *words), PAIRS)
        rows = [row for rows in told for row in rows]
    first, *others = args.schemes.split(",")

    def case(row: Row) -> tuple[str, ...]:
        return tuple(row[name] for name in ("old", "new", "kind", "flows", "at_s"))

    before = {case(row): seconds(row["transfer_s"]) for row in rows if row["scheme"] == first}
    for scheme in others:
        print(f"| {scheme} | handoffs | over the bound given the notice | over {first} |\n|---|---|---|---|")
        for kind, flows in [("", ""), *((kind, flows) for kind in ("mbb", "bbm") for flows in "1248")]:
            some = [r for r in rows if r["scheme"] == scheme and kind in ("", r["kind"]) and flows in ("", r["flows"])]
            bound = [seconds(row["transfer_s"]) / float(row["bound_told_s"]) for row in some]
            # Where both have not ended neither is faster.
            gain = [seconds(row["transfer_s"]) / before[case(row)] for row in some]
            gain = [1.0 if math.isnan(ratio) else ratio for ratio in gain]
            name = f"{kind}, {flows} flows" if kind else "all"
            print(f"| {name} | {len(some)} | {two(bound)} | {two(gain)} |")


if __name__ == "__main__":
    main()
