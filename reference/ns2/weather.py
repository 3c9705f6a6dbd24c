#!/usr/bin/env python3
"""Run real ns-2 with losses (ErrorModel) and RED queues over many seeds, and keep the quartiles.

    weather.py fill weather.csv           adds the measured columns that the table lacks
    weather.py show weather.csv           prints the command of ns-2 for each line, with seed 2
    weather.py same weather.csv losses.csv > same_weather.csv
                                          runs the lines with the losses that `make fidelity ARGS=--losses` prints

A line is a scenario. It has two links, a kind of handoff, and flows. It also has the share of packets that each link
loses in each direction, and whether its queues are RED. Each is run with so many seeds from 2 on, forked at five
handoff times (8.2, 8.6, ..., 9.8 s). With 200 seeds a median is that of 1000 handoffs. `A_med_low` and `A_med_high` are
the interval of 95 % that the median has by chance (bootstrap over seeds); lines that were run before this column came
lack it. It needs Debian's packages ns2, tcl-dev and gcc (scenarios.py). Interrupted, it keeps what is done.
"""
import csv
import os
import random
import subprocess
import sys
import tempfile

from scenarios import HERE, RESULT, quartile

FIRST_SEED = 2
TIMES = "8.2:9.8:0.4"
COUNT = 5
SCENARIO = ["old_kbps", "old_ms", "new_kbps", "new_ms", "kind", "disc_s", "flows", "old_loss", "new_loss", "old_red", "new_red", "seeds"]
MEASURED = ["n", "A_q1", "A_med", "A_q3", "mean_rto_after", "mean_drops_after",
            "A_med_low", "A_med_high"]


def arguments(row, seed):
    names = ["obw", "odel", "nbw", "ndel", "kind", "disc", "flows", "oloss", "nloss", "ored", "nred"]
    return ["%s=%s" % (name, row[column]) for name, column in zip(names, SCENARIO)] + \
        ["seed=%d" % seed, "Tlist=" + TIMES]


def interval(times):
    """95 % of the medians of samples drawn from the seeds, whose handoffs stay together."""
    seeds = [times[i:i + COUNT] for i in range(0, len(times), COUNT)]
    draw = random.Random(1)
    medians = sorted(quartile([t for _ in seeds for t in draw.choice(seeds)], 0.5) for _ in range(400))
    return {"A_med_low": "%.3f" % medians[10], "A_med_high": "%.3f" % medians[-11]}


def run(row, library, folder, first, count):
    """The handoffs of so many seeds, in their order."""
    out = os.path.join(folder, "out.csv")
    for seed in range(first, first + count):
        subprocess.run(["ns", os.path.join(HERE, "handoff.tcl")] + arguments(row, seed) +
                       ["nsfork=" + library, "tmp=" + folder, "ext=" + out], check=True, stdin=subprocess.DEVNULL)
    with open(out, newline="") as f:
        rows = list(csv.DictReader(f, fieldnames=RESULT))
    os.remove(out)
    if len(rows) != COUNT * count:
        raise SystemExit("%d handoffs instead of %d" % (len(rows), COUNT * count))
    return rows


def run_same(row, library, folder, lists):
    """The handoffs of one seed with these losses. The clocks of the senders stand as in all tables of this folder."""
    out = os.path.join(folder, "out.csv")
    without = {**row, "old_loss": "0", "new_loss": "0"}
    subprocess.run(["ns", os.path.join(HERE, "handoff.tcl")] + arguments(without, 5) + lists +
                   ["nsfork=" + library, "tmp=" + folder, "ext=" + out], check=True, stdin=subprocess.DEVNULL)
    with open(out, newline="") as f:
        rows = list(csv.DictReader(f, fieldnames=RESULT))
    os.remove(out)
    return rows


def times_of(rows):
    times = [float(r["defA_s"]) for r in rows]
    return [float("inf") if t != t else t for t in times]


def summarise(rows):
    """The measured columns, of handoffs in the order of the seeds."""
    times = times_of(rows)
    done = {"n": len(rows)}
    done.update((name, "%.3f" % quartile(times, p)) for name, p in (("A_q1", 0.25), ("A_med", 0.5), ("A_q3", 0.75)))
    for name, column in (("mean_rto_after", "rto_after"), ("mean_drops_after", "drops_after")):
        done[name] = "%.3f" % (sum(float(r[column]) for r in rows) / len(rows))
    done.update(interval(times))
    return done


def library_in(folder):
    library = os.environ.get("NSFORK")
    if not library:
        library = os.path.join(folder, "libnsfork.so")
        subprocess.run(["gcc", "-shared", "-fPIC", "-O2", "-I/usr/include/tcl8.6", "-I/usr/include/tcl", "-o", library,
                        os.path.join(HERE, "nsfork.c")], check=True)
    return library


def main():
    if len(sys.argv) not in (3, 4) or sys.argv[1] not in ("fill", "show", "same"):
        raise SystemExit(__doc__)
    command, path = sys.argv[1:3]
    with open(path, newline="") as f:
        rows = list(csv.DictReader(f))
    if command == "show":
        for row in rows:
            print("ns handoff.tcl " + " ".join(arguments(row, FIRST_SEED)))
        return
    with tempfile.TemporaryDirectory(prefix="ns2-") as folder:
        library = library_in(folder)
        if command == "same":
            out = csv.writer(sys.stdout, lineterminator="\n")
            out.writerow(["line", "seed", "T", "A"])
            with open(sys.argv[3], newline="") as f:
                for losses in csv.DictReader(f):
                    lists = ["%s=%s" % (name, losses[name]) for name in ("olist", "nlist")]
                    handoffs = run_same(rows[int(losses["line"]) - 1], library, folder, lists)
                    for handoff, time in zip(handoffs, times_of(handoffs)):
                        out.writerow([losses["line"], losses["seed"], handoff["T"], "%.5f" % time])
            return
        for row in rows:
            if row.get("n"):
                continue
            row.update(summarise(run(row, library, folder, FIRST_SEED, int(row["seeds"]))))
            with open(path + ".new", "w", newline="") as f:
                out = csv.DictWriter(f, SCENARIO + MEASURED, lineterminator="\n")
                out.writeheader()
                out.writerows(rows)
            os.replace(path + ".new", path)


if __name__ == "__main__":
    main()
