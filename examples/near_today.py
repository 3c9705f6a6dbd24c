"""Regular TCP, Enhanced TCP and `near` on links of today: a table of docs/reference/near-results.md.

    python3 examples/near_today.py
    python3 examples/near_today.py --segue target/debug/segue

The handoffs are those of examples/near-today.toml, by the link to which they lead. Cells are the median and the 90th
percentile of the transfer time over the notice bound.
"""

import argparse
import collections
import csv
import io
import math
import pathlib
import subprocess

PLAN = pathlib.Path(__file__).resolve().parent / "near-today.toml"


def quantile(ratios: list[float], share: float) -> float:
    """The value below which this share of the ratios lies."""
    return sorted(ratios)[int(share * (len(ratios) - 1))]


def main() -> None:
    """Prints a line for each kind of handoff and new link."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--segue", default="segue", help="the program")
    command = [parser.parse_args().segue, "run", str(PLAN), "--quiet", "--origin=none", "--rows", "-"]
    told = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    ratios: dict[tuple[str, str], dict[str, list[float]]] = {}
    for row in csv.DictReader(io.StringIO(told)):
        ratio = float(row["transfer_s"]) / float(row["bound_told_s"]) if row["transfer_s"] else math.inf
        for link in (row["new"], "all"):
            ratios.setdefault((row["kind"], link), collections.defaultdict(list))[row["scheme"]].append(ratio)
    schemes = list(next(iter(ratios.values())))
    print(f"| kind | to | handoffs | {' | '.join(f'`{scheme}`' for scheme in schemes)} |\n|---|---|---|{'---|' * len(schemes)}")
    for (kind, link), of in ratios.items():
        cells = [f"{quantile(of[scheme], 0.5):.2f} / {quantile(of[scheme], 0.9):.2f}" for scheme in schemes]
        print(f"| {kind} | {link} | {len(of[schemes[0]])} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
