"""The sweep of sweep-small.toml on a Dask cluster: one of this machine, or the one at an address.

python examples/dask_sweep.py [tcp://HOST:PORT]

docs/guide/python.md tells of clusters that someone else runs.
"""

import sys
from pathlib import Path

import polars
from distributed import Client, LocalCluster

import segue


def main(address: str | None) -> None:
    """Computes the sweep and prints the median transfer time of each scheme."""
    spec = Path(__file__).with_name("sweep-small.toml")

    def progress(finished: int, of: int) -> None:
        print(f"{finished} of {of} rows", file=sys.stderr)

    if address is None:
        # One thread each: a part takes one core.
        with LocalCluster(threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster) as client:
            out = segue.sweep(spec, out="sweep-small.parquet", client=client, progress=progress)
    else:
        out = segue.sweep(spec, out="sweep-small.parquet", client=address, progress=progress)

    medians = (
        polars.scan_parquet(out)
        .group_by("old", "new", "kind", "scheme")
        .agg(polars.col("transfer_s").median(), polars.len().alias("handoffs"))
        .sort("old", "new", "kind", "transfer_s")
    )
    print(medians.collect())


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
