#!/usr/bin/env python3
"""Run real ns-2 over whole scenarios (200 handoff times each) and summarise them.

    scenarios.py spread OLD_KBPS OLD_MS NEW_KBPS NEW_MS mbb|bbm DISC_S FLOWS
        the range that ns-2 itself spans when only the flow offset and the rate of the MN hop change
    scenarios.py spread-table SCENARIO.csv OUT.csv [--flows 4,2,1]
        adds to OUT.csv the rows of `spread`, with quartiles, that it lacks of the listed scenarios
    scenarios.py summary SCENARIO.csv OUT.csv [--set timestamps_,true]
        adds to OUT.csv, in the columns of summary.csv, what it lacks of the listed scenarios; with other variables of the agent
    scenarios.py check
        recomputes summary.csv from results.csv.gz and compares spread.csv with summary.csv, heldout_spread.csv with heldout.csv

It needs Debian's packages ns2, tcl-dev and gcc, and nothing else: libnsfork.so is built into a temporary folder,
unless the environment variable NSFORK names one. `--jobs N` runs N ns-2 processes at a time (default 1).

SCENARIO.csv needs the eight columns that name a scenario and may have more (summary.csv itself will do).
A scenario is (paper, old_kbps, old_ms, new_kbps, new_ms, kind, disc_s, flows); every number printed comes from
`ns handoff.tcl ... Tlist=0.1:20.0:0.1`, whose exact line `--show` prints. Quartiles by linear interpolation (type 7);
a handoff time whose transfer did not end within 400 s counts as infinite.
"""
import argparse
import concurrent.futures
import csv
import gzip
import itertools
import math
import os
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
POINTS = 200
OFFSETS_MS = ["0.7", "1", "1.3", "3.7", "20"]
MN_MBPS = ["500", "10000"]

SCENARIO = ["paper", "old_kbps", "old_ms", "new_kbps", "new_ms", "kind", "disc_s", "flows"]
# one line of `handoff.tcl ext=FILE`, and of results.csv.gz
RESULT = SCENARIO + [
    "T", "defA_s", "defB_s", "rto_after", "drops_after", "rexmit_after", "rto_until_B", "rto_disc", "fr_after",
    "spur_rto_after", "rexmit_disc", "ackdrops_after", "linkerr_drops", "wired_drops", "flight_T", "first_rto_s",
    "maxseq_T", "ack_T", "cwnd_T", "ssthresh_T", "incomplete"]
QUARTILES = ["A_q1", "A_med", "A_q3", "B_q1", "B_med", "B_q3"]
SUMMARY = SCENARIO + ["n_T"] + QUARTILES + [
    "frac_T_rto_ge1", "frac_T_spurious_rto_ge1", "mean_rto_after", "frac_T_rto_in_disc", "mean_rto_in_disc",
    "frac_T_fr_ge1", "mean_drops_after", "mean_rexmit_after", "n_incomplete"]
SPREAD = SCENARIO + ["offset_ms", "mn_mbps"] + QUARTILES + ["mean_rto_after", "mean_drops_after", "mean_rexmit_after"]


def quartile(values, p):
    """Type 7: linear interpolation at (n - 1) * p of the sorted values."""
    values = sorted(values)
    h = (len(values) - 1) * p
    i = math.floor(h)
    if h == i or values[i] == values[i + 1]:
        return values[i]
    return values[i] + (h - i) * (values[i + 1] - values[i])


def summarise(scenario, rows):
    """rows: dicts with the names RESULT, one per handoff time."""
    def column(name):
        return [float(r[name]) for r in rows]

    def mean(name):
        return "%.3f" % (sum(column(name)) / len(rows))

    def share(name):
        return "%.3f" % (sum(v >= 1 for v in column(name)) / len(rows))

    out = dict(zip(SCENARIO, scenario), n_T=str(len(rows)))
    for definition, name in (("A", "defA_s"), ("B", "defB_s")):
        values = [math.inf if math.isnan(v) else v for v in column(name)]
        for label, p in (("q1", 0.25), ("med", 0.5), ("q3", 0.75)):
            out[definition + "_" + label] = "%.3f" % quartile(values, p)
    out.update(
        frac_T_rto_ge1=share("rto_after"), frac_T_spurious_rto_ge1=share("spur_rto_after"),
        mean_rto_after=mean("rto_after"), frac_T_rto_in_disc=share("rto_disc"), mean_rto_in_disc=mean("rto_disc"),
        frac_T_fr_ge1=share("fr_after"), mean_drops_after=mean("drops_after"), mean_rexmit_after=mean("rexmit_after"),
        n_incomplete=str(sum(v >= 1 for v in column("incomplete"))))
    return out


def read(path):
    with gzip.open(path, "rt") if path.endswith(".gz") else open(path, newline="") as f:
        return list(csv.DictReader(f))


def key(row):
    """The scenario of a row, its disconnection spelt as in summary.csv: 0, 0.5, 1.0."""
    disc = "0" if row["kind"] == "mbb" else str(float(row["disc_s"]))
    return tuple(disc if n == "disc_s" else row[n] for n in SCENARIO)


class Ns2:
    """Runs scenarios; one scratch folder, one libnsfork.so."""

    def __init__(self, show, variables=""):
        self.show = show
        self.variables = ["set=" + variables] if variables else []
        self.folder = tempfile.TemporaryDirectory(prefix="ns2-")
        self.count = itertools.count()
        self.library = os.environ.get("NSFORK")
        if not self.library:
            self.library = os.path.join(self.folder.name, "libnsfork.so")
            subprocess.run(["gcc", "-shared", "-fPIC", "-O2", "-I/usr/include/tcl8.6", "-I/usr/include/tcl",
                            "-o", self.library, os.path.join(HERE, "nsfork.c")], check=True)

    def rows(self, scenario, offset_ms="1", mn_mbps="500"):
        s = dict(zip(SCENARIO, scenario))
        out = os.path.join(self.folder.name, "%d.csv" % next(self.count))
        arguments = ["paper=" + s["paper"], "obw=" + s["old_kbps"], "odel=" + s["old_ms"], "nbw=" + s["new_kbps"],
                     "ndel=" + s["new_ms"], "kind=" + s["kind"], "disc=%s" % s["disc_s"], "flows=" + s["flows"],
                     "offset=%g" % (float(offset_ms) / 1000), "wirbw=%sMb" % mn_mbps, "Tlist=0.1:20.0:0.1"] + self.variables
        if self.show:
            print("ns handoff.tcl " + " ".join(arguments), file=sys.stderr, flush=True)
        subprocess.run(["ns", os.path.join(HERE, "handoff.tcl")] + arguments +
                       ["nsfork=" + self.library, "tmp=" + self.folder.name, "ext=" + out],
                       check=True, stdin=subprocess.DEVNULL)
        with open(out, newline="") as f:
            rows = list(csv.DictReader(f, fieldnames=RESULT))
        os.remove(out)
        if len(rows) != POINTS:
            raise SystemExit("%s: %d handoff times instead of %d" % (" ".join(arguments), len(rows), POINTS))
        return rows


def combinations(flows):
    # flow i starts at i * offset: the offset cannot matter to a single flow
    return [(o, m) for o in (OFFSETS_MS if int(flows) > 1 else ["1"]) for m in MN_MBPS]


def spread_row(ns2, scenario, offset_ms, mn_mbps):
    row = summarise(scenario, ns2.rows(scenario, offset_ms, mn_mbps))
    row.update(offset_ms=offset_ms, mn_mbps=mn_mbps)
    return {n: row[n] for n in SPREAD}


def fill(path, columns, order, wanted, jobs, work):
    """Adds to the table `path` the rows of `wanted` that it lacks, sorted as `wanted` is; interrupted, it keeps what is done."""
    done = {}
    if os.path.exists(path):
        with open(path, newline="") as f:
            done = {order(r): r for r in csv.DictReader(f)}
    lock = threading.Lock()
    ranks = {w: i for i, w in enumerate(wanted)}

    def one(w):
        row = work(w)
        with lock:
            done[w] = row
            with open(path + ".new", "w", newline="") as f:
                out = csv.DictWriter(f, columns, lineterminator="\n")
                out.writeheader()
                out.writerows(done[k] for k in sorted(done, key=lambda k: (ranks.get(k, len(ranks)), k)))
            os.replace(path + ".new", path)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for r in [pool.submit(one, w) for w in wanted if w not in done]:
            r.result()


def spread(a):
    ns2 = Ns2(a.show)
    scenario = ("0", a.old_kbps, a.old_ms, a.new_kbps, a.new_ms, a.kind, a.disc_s if a.kind == "bbm" else "0", a.flows)
    if a.flows == "1":
        print("one flow: the offset of the flows cannot matter, only the MN hop varies")
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        rows = list(pool.map(lambda c: spread_row(ns2, scenario, *c), combinations(a.flows)))
    print("offset_ms  mn_mbps    A_med    B_med")
    for r in rows:
        print("%9s %8s %8s %8s" % (r["offset_ms"], r["mn_mbps"], r["A_med"], r["B_med"]))
    for name, pick in (("min", min), ("max", max)):
        print("%18s %8s %8s" % (name, *("%.3f" % pick(float(r[c]) for r in rows) for c in ("A_med", "B_med"))))


def spread_table(a):
    ns2 = Ns2(a.show)
    scenarios = [key(r) for r in read(a.scenarios)]
    wanted = [s + c for flows in a.flows.split(",") for s in scenarios if s[-1] == flows for c in combinations(flows)]
    fill(a.out, SPREAD, lambda r: key(r) + (r["offset_ms"], r["mn_mbps"]),
         wanted, a.jobs, lambda w: spread_row(ns2, w[:-2], *w[-2:]))


def summary(a):
    ns2 = Ns2(a.show, a.set)
    fill(a.out, SUMMARY, key, [key(r) for r in read(a.scenarios)], a.jobs, lambda w: summarise(w, ns2.rows(w)))


def check(_):
    def differences(found, expected, columns):
        wrong = ["%s %s instead of %s" % (n, found[n], expected[n]) for n in columns if found[n] != expected[n]]
        if wrong:
            print(",".join(key(expected)) + ": " + ", ".join(wrong))
        return bool(wrong)

    results = {}
    for r in read(os.path.join(HERE, "results.csv.gz")):
        results.setdefault(key(r), []).append(r)
    reference = read(os.path.join(HERE, "summary.csv"))
    total = bad = sum(differences(summarise(key(r), results[key(r)]), r, SUMMARY) for r in reference)
    print("summary.csv: %d scenarios recomputed from results.csv.gz, %d differ" % (len(reference), bad))
    common = [n for n in SPREAD if n in SUMMARY]
    for spread_name, name in (("spread.csv", "summary.csv"), ("heldout_spread.csv", "heldout.csv")):
        reference = {key(r): r for r in read(os.path.join(HERE, name))}
        rows = [r for r in read(os.path.join(HERE, spread_name)) if (r["offset_ms"], r["mn_mbps"]) == ("1", "500")]
        bad = sum(differences(r, reference[key(r)], common) for r in rows)
        total += bad
        print("%s: %d rows at 1 ms and 500 Mbit/s compared with %s, %d differ" % (spread_name, len(rows), name, bad))
    return 1 if total else 0


def main():
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--jobs", type=int, default=1)
    common.add_argument("--show", action="store_true", help="print each ns-2 command line")
    top = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sub = top.add_subparsers(required=True)
    p = sub.add_parser("spread", parents=[common])
    for n in ("old_kbps", "old_ms", "new_kbps", "new_ms"):
        p.add_argument(n)
    p.add_argument("kind", choices=["mbb", "bbm"])
    p.add_argument("disc_s")
    p.add_argument("flows")
    p.set_defaults(do=spread)
    p = sub.add_parser("spread-table", parents=[common])
    p.add_argument("scenarios")
    p.add_argument("out")
    p.add_argument("--flows", default="4,2,1")
    p.set_defaults(do=spread_table)
    p = sub.add_parser("summary", parents=[common])
    p.add_argument("scenarios")
    p.add_argument("out")
    p.add_argument("--set", default="", help="VARIABLE,VALUE of the agent, several after commas")
    p.set_defaults(do=summary)
    sub.add_parser("check", parents=[common]).set_defaults(do=check)
    a = top.parse_args()
    sys.exit(a.do(a))


if __name__ == "__main__":
    main()
