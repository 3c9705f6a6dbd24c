"""Regular TCP, Enhanced TCP and `near` on links of today: a table of docs/reference/near-results.md.

    make build
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
import sys

PLAN = pathlib.Path(__file__).resolve().parent / "near-today.toml"
KINDS = {"mbb": "make-before-break", "bbm": "break-before-make"}
LINKS = ["all", "wifi6", "5g", "lte", "leo", "geo", "dsl", "wifi5-busy"]


def quantile(ratios: list[float], share: float) -> float:
    """Linear interpolation between the two next to it, as `segue measures` has it."""
    ratios = sorted(ratios)
    place = share * (len(ratios) - 1)
    low, high = ratios[math.floor(place)], ratios[math.ceil(place)]
    return low if low == high else low + (high - low) * (place % 1)


def rows(segue: str) -> list[dict[str, str]]:
    """A row for each handoff and sender."""
    command = [segue, "run", str(PLAN), "--quiet", "--origin=none", "--rows", "-"]
    try:
        told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    except FileNotFoundError:
        sys.exit(f"near_today.py: there is no program {segue}; expected --segue target/debug/segue, for example")
    except subprocess.CalledProcessError as failed:
        sys.exit(failed.stderr.strip())
    return list(csv.DictReader(io.StringIO(told)))


def main() -> None:
    """Prints a line for each kind of handoff and new link."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--segue", default="segue", help="the program")
    ratios: dict[tuple[str, str], dict[str, list[float]]] = collections.defaultdict(lambda: collections.defaultdict(list))
    for row in rows(parser.parse_args().segue):
        ratio = float(row["transfer_s"]) / float(row["bound_told_s"]) if row["transfer_s"] else math.inf
        for link in (row["new"], "all"):
            ratios[row["kind"], link][row["scheme"]].append(ratio)
    print("| kind | to | regular TCP | `etcp-v1` | `near` |\n|---|---|---|---|---|")
    for kind, name in KINDS.items():
        for link in LINKS:
            of = ratios[kind, link]
            cells = [f"{quantile(of[sender], 0.5):.2f} / {quantile(of[sender], 0.9):.2f}" for sender in of]
            words = [name, "all"] if link == "all" else ["", f"`{link}`"]
            print("|", " | ".join(words + cells).lstrip(), "|")


if __name__ == "__main__":
    main()
