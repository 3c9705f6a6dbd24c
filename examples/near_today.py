"""Regular TCP, Enhanced TCP and `near` on links of today: a table of docs/reference/near-results.md.

    make build
    python3 examples/near_today.py --segue target/debug/segue

The handoffs are those of examples/near-today.toml, by the link to which they lead. Cells are the median and the 90th
percentile of the transfer time over the notice bound.
"""

import argparse
import collections
import pathlib

from near_table import handoffs, seconds, two

PLAN = pathlib.Path(__file__).resolve().parent / "near-today.toml"
KINDS = {"mbb": "make-before-break", "bbm": "break-before-make"}
LINKS = ["all", "wifi6", "5g", "lte", "leo", "geo", "dsl", "wifi5-busy"]


def main() -> None:
    """Prints a line for each kind of handoff and new link."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--segue", default="segue", help="the program")
    ratios: dict[tuple[str, str], dict[str, list[float]]] = collections.defaultdict(lambda: collections.defaultdict(list))
    for row in handoffs(parser.parse_args().segue, "run", str(PLAN)):
        ratio = seconds(row["transfer_s"]) / float(row["bound_told_s"])
        for link in (row["new"], "all"):
            ratios[row["kind"], link][row["scheme"]].append(ratio)
    print("| kind | to | regular TCP | `etcp-v1` | `near` |\n|---|---|---|---|---|")
    for kind, name in KINDS.items():
        for link in LINKS:
            words = [name, "all"] if link == "all" else ["", f"`{link}`"]
            print("|", " | ".join(words + [two(of, 2) for of in ratios[kind, link].values()]).lstrip(), "|")


if __name__ == "__main__":
    main()
