#!/usr/bin/env python3
"""Run real ns-2 with losses (ErrorModel) and RED queues over many seeds, and keep the quartiles.

    weather.py fill weather.csv           adds the measured columns that the table lacks
    weather.py show weather.csv           prints the command of ns-2 for each line, with seed 2
    weather.py handoffs weather.csv LINE FIRST SEEDS > ns2.csv
                                          runs a line (from 1) with other seeds; a row for each handoff
    weather.py shares ns2.csv rows.csv    the distributions of ns-2's handoffs, and of ours by `segue compare --rows`

A line is a scenario. It has two links, a kind of handoff, and flows. It also has the share of packets that each link
loses in each direction, and whether its queues are RED. Each is run with so many seeds from 2 on, forked at five
handoff times (8.2, 8.6, ..., 9.8 s). With 200 seeds a median is that of 1000 handoffs. `A_med_low` and `A_med_high` are
the interval of 95 % that the median has by chance (bootstrap over seeds); lines that were run before this column came
lack it. It needs Debian's packages ns2, tcl-dev and gcc (scenarios.py). Interrupted, it keeps what is done.

The difference of two shares is told in standard errors, as the seeds differ: 2 and more is rarely chance. `shares`
prints the handoffs that are done within a time, then those with and without timeouts in the outage and after it. Last
comes the largest distance of the two distributions (Kolmogorov and Smirnov), and how often it is as large by chance.
For that, seeds are dealt to the two programs anew, since the handoffs of a seed are not independent.
"""
import bisect
import csv
import itertools
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile

from scenarios import HERE, RESULT, quartile

FIRST_SEED = 2
TIMES = "8.2:9.8:0.4"
COUNT = 5
# Times of `shares`, s.
LIMITS = [0.6, 0.8, 0.9, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0, 2.2, 2.5, 3.0, 3.5, 4.0, 5.0]
SCENARIO = ["old_kbps", "old_ms", "new_kbps", "new_ms", "kind", "disc_s", "flows", "old_loss", "new_loss", "old_red", "new_red", "seeds"]
# Columns of a handoff, as `segue compare --rows` names them, and ns-2's.
HANDOFF = {"transfer_s": "defA_s", "timeouts_in_disconnection": "rto_disc", "timeouts": "rto_after"}
# How often the seeds are dealt anew.
DEALS = 1000
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


def read_handoffs(path):
    """The handoffs of each seed: time, timeouts in the outage, timeouts after it."""
    seeds = {}
    with open(path, newline="") as f:
        for row in csv.DictReader(line for line in f if not line.startswith("#")):
            time = float(row["transfer_s"] or "inf")
            counts = (int(row["timeouts_in_disconnection"]), int(row["timeouts"]))
            seeds.setdefault(row["seed"], []).append((math.inf if time != time else time, *counts))
    return list(seeds.values())


def apart(theirs, ours, is_it):
    """Shares of the handoffs that are so, and their difference in standard errors."""
    both = []
    for seeds in (theirs, ours):
        each = [sum(map(is_it, seed)) / len(seed) for seed in seeds]
        both.append((statistics.mean(each), statistics.variance(each) / len(each)))
    (a, va), (b, vb) = both
    return a, b, (b - a) / math.sqrt(va + vb) if va + vb else 0


def distance(places, ours, weights):
    """The largest difference of two distributions, and its place; `ours`: which seeds are."""
    steps = [0.0] * (1 + max(map(max, places)))
    for seed, own in zip(places, ours):
        for place in seed:
            steps[place] += weights[own]
    sums = list(itertools.accumulate(steps))
    place = max(range(len(sums)), key=lambda place: abs(sums[place]))
    return abs(sums[place]), place


def shares(ns2, rows):
    """Prints how the handoffs of both programs are distributed."""
    theirs, ours = read_handoffs(ns2), read_handoffs(rows)
    print("up to s   ns-2    ours   apart   (%d and %d seeds)" % (len(theirs), len(ours)))
    for limit in LIMITS:
        print("%7.1f  %.4f  %.4f  %+.2f" % (limit, *apart(theirs, ours, lambda handoff: handoff[0] <= limit)))
    print("\ntimeouts in the outage and after it; quartiles, s\n           ns-2    ours   apart   ns-2, ours")
    for early, late in itertools.product((0, 1), (1, 2)):
        def is_it(handoff):
            return min(handoff[1], 1) == early and (handoff[2] >= 2) == (late == 2)
        quartiles = []
        for seeds in (theirs, ours):
            times = [handoff[0] for seed in seeds for handoff in seed if is_it(handoff)]
            quartiles.append(" ".join("%.3f" % quartile(times, p) for p in (0.25, 0.5, 0.75)) if times else "-")
        name = "%s, %s" % (["none", "some"][early], ["up to 1", "more"][late - 1])
        print("%s  %.4f  %.4f  %+.2f   %s, %s" % (name.ljust(13), *apart(theirs, ours, is_it), *quartiles))
    values = sorted({handoff[0] for seed in theirs + ours for handoff in seed})
    places = [[bisect.bisect_left(values, handoff[0]) for handoff in seed] for seed in theirs + ours]
    whose = [0] * len(theirs) + [1] * len(ours)
    weights = [1 / sum(map(len, theirs)), -1 / sum(map(len, ours))]
    found, place = distance(places, whose, weights)
    draw = random.Random(1)
    as_far = 0
    for _ in range(DEALS):
        draw.shuffle(whose)
        as_far += distance(places, whose, weights)[0] >= found
    print("\nlargest distance %.4f, at %.3f s; as large or larger in %d of %d deals of the seeds" %
          (found, values[place], as_far, DEALS))


def library_in(folder):
    library = os.environ.get("NSFORK")
    if not library:
        library = os.path.join(folder, "libnsfork.so")
        subprocess.run(["gcc", "-shared", "-fPIC", "-O2", "-I/usr/include/tcl8.6", "-I/usr/include/tcl", "-o", library,
                        os.path.join(HERE, "nsfork.c")], check=True)
    return library


def main():
    command, path = sys.argv[1:3]
    if command == "shares":
        return shares(path, sys.argv[3])
    with open(path, newline="") as f:
        rows = list(csv.DictReader(f))
    if command == "show":
        for row in rows:
            print("ns handoff.tcl " + " ".join(arguments(row, FIRST_SEED)))
        return
    with tempfile.TemporaryDirectory(prefix="ns2-") as folder:
        library = library_in(folder)
        if command == "handoffs":
            line, first, count = map(int, sys.argv[3:])
            out = csv.writer(sys.stdout, lineterminator="\n")
            out.writerow(["seed", *HANDOFF])
            for seed in range(first, first + count):
                for handoff in run(rows[line - 1], library, folder, seed, 1):
                    out.writerow([seed, *(handoff[column] for column in HANDOFF.values())])
                sys.stdout.flush()
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
