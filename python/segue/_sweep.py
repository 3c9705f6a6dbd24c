"""Sweeps on the threads of this machine or on a Dask cluster: the same file, to the byte."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ._segue import SweepPlan, SweepStore

if TYPE_CHECKING:
    from distributed import Client

Progress = Callable[[int, int], object]


def sweep(
    spec: str | os.PathLike[str],
    *,
    out: str | os.PathLike[str],
    client: Client | str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Path:
    """Computes very many handoffs, one row each, into a Parquet file, as `segue sweep` does.

    Parameters
        spec: the sweep, TOML (docs/guide/sweep.md).
        out: the file. Parts that are done are kept in `out` + '.parts' until it is whole; a later call goes on there.
        client: a Dask client, or the address of a scheduler, 'tcp://HOST:PORT', whose workers compute the parts. Each
            part has a warm-up of its own, so that no worker repeats another's; a worker that dies costs the part that
            it computes. Measured links must lie on the workers where they lie here.
        threads: on this machine, without a client; all cores unless given.
        progress: is called with the number of rows that are finished and of all.

    Returns
        Path: `out`, the same bytes on whatever computes them; `polars.read_parquet` and others read it.

    Raises
        OSError: `spec` cannot be read; nothing answers at the address, or it has no workers, within ten seconds.
        ValueError: what the command line would refuse, with its line; a worker has another Segue, by its name.
        RuntimeError: a fault of Segue or of the cluster; a full disk. Parts that are done are kept.

    Source
        The bench of L. Daniel and M. Kojo; sections 1 and 9 of docs/reference/algorithms.md.
    """
    plan = SweepPlan(Path(spec).read_text(encoding="utf-8"), os.fspath(spec))
    if client is None:
        store = SweepStore(plan, os.fspath(out))
        store.run(threads=threads, progress=progress)
    else:
        if threads is not None:
            raise ValueError("threads are of this machine; a cluster has its own: expected client or threads")
        from ._dask import answering, compute

        with answering(client) as cluster:
            store = SweepStore(plan, os.fspath(out))
            compute(plan, store, cluster, progress)
    store.finish()
    return Path(out)
