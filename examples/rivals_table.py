"""Rival policies beside Enhanced TCP and `near`: the tables of docs/reference/rivals.md.

    python3 examples/rivals_table.py
    python3 examples/rivals_table.py --segue target/debug/segue
"""

import argparse
import csv
import io
import pathlib
import subprocess

RIVALS = pathlib.Path(__file__).resolve().parent / "rivals"
PAIRS, LEO = RIVALS / "pairs.toml", RIVALS / "leo.toml"
MEMORIES = ["0.5", "1", "2", "4"]
MEMORY_PAIRS = [("50mbit/20ms", "10mbit/30ms"), ("10mbit/30ms", "50mbit/20ms"), ("leo", "5g"), ("wifi6", "5g")]

Row = dict[str, str]


def rows(segue: str, *words: str) -> list[Row]:
    """A row for each pair of links, kind and scheme."""
    command = [segue, *words, "--quiet", "--origin=none", "--csv", "-"]
    told = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    return list(csv.DictReader(io.StringIO(told)))


def case(row: Row) -> str:
    """The handoff, as the first cells of its line."""
    return f"| {row['old']} -> {row['new']} | {row['kind']} |"


def number(word: str, digits: int) -> str:
    """A number of the table; a transfer that has not ended takes for ever."""
    return "inf" if word in ("", "null") else f"{float(word):.{digits}f}"


def table(all_rows: list[Row], column: str, digits: int) -> None:
    """Prints handoffs down, schemes across."""
    schemes = list(dict.fromkeys(row["scheme"] for row in all_rows))
    print(f"| links | kind | {' | '.join(f'`{scheme}`' for scheme in schemes)} |\n|---|---|{'---|' * len(schemes)}")
    for line in dict.fromkeys(map(case, all_rows)):
        cells = {row["scheme"]: number(row[column], digits) for row in all_rows if case(row) == line}
        print(line, " | ".join(cells[scheme] for scheme in schemes), "|")


def memories(segue: str) -> None:
    """Prints what becomes of Careful Resume if its memory of the window is right, or wrong: over the bound, drops."""
    asked = "--kind mbb,bbm --disconnect 1s --packets 500 --schemes careful-resume --set".split()
    print(f"| links | kind | {' | '.join(MEMORIES)} |\n|---|---|{'---|' * len(MEMORIES)}")
    for pair in MEMORY_PAIRS:
        answers = [rows(segue, "compare", *pair, *asked, f"saved-window={memory}") for memory in MEMORIES]
        for same in zip(*answers, strict=True):
            cells = [f"{number(row['over_bound_median'], 2)} / {number(row['drops'], 0)}" for row in same]
            print(case(same[0]), " | ".join(cells), "|")


def schedules(segue: str) -> None:
    """Prints senders with a schedule and without: the rows of leo.toml, and LeoCC's control by itself."""
    told = rows(segue, "run", str(LEO))
    asked = "--kind mbb,bbm --disconnect 80ms --packets 5000 --stack linux-6.12/leocc --schemes sack".split()
    for old, new in dict.fromkeys((row["old"], row["new"]) for row in told):
        told += [row | {"scheme": "linux-6.12/leocc"} for row in rows(segue, "compare", old, new, *asked)]
    for column, digits in (("over_bound_median", 2), ("drops", 0)):
        print(f"\nleo.toml, {column}\n")
        table(told, column, digits)


def main() -> None:
    """Prints all tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--segue", default="segue", help="the program")
    segue = parser.parse_args().segue
    of_pairs = rows(segue, "run", str(PAIRS))
    for column in ("over_bound_median", "over_bound_p90", "ratio_to_first_median"):
        print(f"\n{column}\n")
        table(of_pairs, column, 2)
    print("\ncareful-resume, its memory of the window times the truth: over_bound_median / drops\n")
    memories(segue)
    schedules(segue)


if __name__ == "__main__":
    main()
