"""The same sweep on threads and on a Dask cluster of this machine, in turn: how long each takes, and whether all files are equal.

python examples/dask_speed.py SWEEP.toml [ROUNDS]
"""

import hashlib
import os
import sys
import tempfile
import time
from pathlib import Path

from distributed import Client, LocalCluster

import segue


def main(spec: Path, rounds: int) -> None:
    """Prints a line per sweep."""
    digests = set()
    # As many workers of one thread as the sweep has threads without them.
    workers = os.cpu_count()
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
        tempfile.TemporaryDirectory() as folder,
    ):
        for place in [None, client] * rounds:
            out = Path(folder) / "out.parquet"
            out.unlink(missing_ok=True)
            begun = time.monotonic()
            segue.sweep(spec, out=out, client=place)
            took = time.monotonic() - begun
            print(f"{'threads' if place is None else 'Dask'}: {took:.2f} s", flush=True)
            digests.add(hashlib.sha256(out.read_bytes()).hexdigest())
    print("the same bytes" if len(digests) == 1 else "different files")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 3)
