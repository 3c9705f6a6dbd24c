"""The parts of a sweep as tasks of Dask: one part a task, kept here as soon as it is there."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING

from distributed import Client, KilledWorker, Security, as_completed, get_worker, rpc

from . import __version__
from ._segue import SweepPlan, SweepStore

if TYPE_CHECKING:
    from ._sweep import Progress

# How long a scheduler may take to answer, and to have a worker, s.
PATIENCE_S = 10


@contextmanager
def answering(client: Client | str) -> Iterator[Client]:
    """A client whose cluster answers, has workers, and on each of them this version of Segue."""
    if isinstance(client, str):
        try:
            # In a thread: a notebook has a loop of its own.
            with ThreadPoolExecutor(1) as thread:
                thread.submit(asyncio.run, _ask(client)).result()
            ours = Client(client, timeout=PATIENCE_S, set_as_default=False)
        except (OSError, ValueError, TimeoutError, asyncio.TimeoutError) as error:
            raise ConnectionError(
                f"no Dask scheduler answers at `{client}` within {PATIENCE_S} s: {_line(error)}; "
                "expected an address such as tcp://127.0.0.1:8786"
            ) from None
        with ours:
            _check(ours)
            yield ours
        return
    if not isinstance(client, Client) or client.asynchronous:
        raise TypeError(f"client: expected a synchronous dask.distributed.Client or an address, not {client!r}")
    _check(client)
    yield client


async def _ask(address: str) -> None:
    """A scheduler's identity. The time limit of Dask's client does not hold for a port that accepts and is silent."""
    arguments = Security().get_connection_args("client")
    scheduler = rpc(address, connection_args=arguments)
    try:
        await asyncio.wait_for(scheduler.identity(), PATIENCE_S)
    finally:
        await scheduler.close_rpc()


def _check(client: Client) -> None:
    if client.status != "running":
        raise ConnectionError(f"the Dask client is {client.status}; expected one that is connected")
    try:
        client.wait_for_workers(1, timeout=PATIENCE_S)
    except TimeoutError:
        address = client.scheduler.address if client.scheduler is not None else "?"
        raise ConnectionError(f"the Dask cluster at {address} has no worker after {PATIENCE_S} s") from None
    for address, answer in client.run(_version, on_error="return").items():
        if answer != __version__:
            _refuse(address, f"segue {answer}" if isinstance(answer, str) else f"no such segue ({_line(answer)})")


def _version() -> str:
    """Version of the worker's package."""
    import segue

    return segue.__version__


def _refuse(worker: str, has: str) -> None:
    raise ValueError(f"worker {worker} has {has}; expected segue {__version__} on every worker")


def _line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), "") or type(error).__name__


_read: SweepPlan | None = None


def _plan(text: str, path: str) -> SweepPlan:
    """A worker reads a sweep once, not once a part."""
    global _read
    plan = _read
    if plan is None or (plan.text, plan.path) != (text, path):
        _read = plan = SweepPlan(text, path)
    return plan


def part(version: str, text: str, path: str, fingerprint: str, number: int) -> bytes:
    """The task: computes a part on a worker."""
    # A worker may have come after the others were asked.
    if (mine := _version()) != version:
        raise ValueError(f"worker {get_worker().address} has segue {mine}; expected segue {version} on every worker")
    plan = _plan(text, path)
    if plan.fingerprint != fingerprint:
        raise ValueError(
            f"worker {get_worker().address} has another build of segue or measured links of other content; "
            "expected the same everywhere"
        )
    return plan.part(number)


def compute(plan: SweepPlan, store: SweepStore, client: Client, progress: Progress | None) -> None:
    """Computes the missing parts. However it ends, parts that have come are kept and the other tasks are cancelled."""
    missing = store.missing()
    finished = plan.handoffs - sum(map(plan.handoffs_of, missing))
    # Workers have other working directories.
    common = (__version__, plan.text, os.path.abspath(plan.path), plan.fingerprint)
    # The longest first, so that no worker waits long for the last.
    futures = {
        client.submit(part, *common, number, pure=False, priority=plan.weight(number)): number for number in missing
    }
    try:
        for future, result in as_completed(list(futures), loop=client.loop, with_results=True):
            number = futures.pop(future)
            store.keep(number, result)
            future.release()
            finished += plan.handoffs_of(number)
            if progress is not None:
                progress(finished, plan.handoffs)
    except KilledWorker as error:
        raise RuntimeError(f"the cluster gave up: {_line(error)}; the parts that are done are kept") from None
    finally:
        client.cancel(list(futures))
