"""Sweeps: the same file on threads, on Dask and by the command line; workers that die, and that are not ours."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars
import pytest
from conftest import PATIENCE
from distributed import Client, LocalCluster

import segue

SPEC = """
old = ['wlan', 'egprs', '6400kbit/9ms']
new = '200kbit/300ms'
kind = ['mbb', 'bbm']
flows = [1, 2]
schemes = ['sack', 'etcp-v1']
at = '1s..4s/0.5s'
seeds = 2
"""
# Old links, flow counts and seeds: each has a warm-up of its own. Then all kinds, times and schemes.
PARTS = 3 * 2 * 2
HANDOFFS = PARTS * 2 * 7 * 2


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    file = tmp_path / "sweep.toml"
    file.write_text(SPEC)
    return file


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        yield cluster


@pytest.fixture
def client(cluster: LocalCluster) -> Iterator[Client]:
    with Client(cluster, set_as_default=False) as client:
        yield client


def test_threads_dask_and_command_line_write_the_same_bytes(
    spec: Path, tmp_path: Path, command_line: Any, cluster: LocalCluster, client: Client
) -> None:
    told: list[tuple[int, int]] = []
    done = command_line("sweep", str(spec), "--out", str(tmp_path / "program.parquet"))
    assert done.returncode == 0, done.stderr
    expected = (tmp_path / "program.parquet").read_bytes()
    for threads in (1, 2):
        out = segue.sweep(spec, out=tmp_path / f"threads-{threads}.parquet", threads=threads)
        assert out.read_bytes() == expected
    on_dask = segue.sweep(spec, out=tmp_path / "dask.parquet", client=client, progress=lambda *at: told.append(at))
    assert on_dask.read_bytes() == expected
    by_address = segue.sweep(spec, out=tmp_path / "address.parquet", client=cluster.scheduler_address)
    assert by_address.read_bytes() == expected
    assert len(told) == PARTS and told == sorted(told) and told[-1] == (HANDOFFS, HANDOFFS)
    assert len(polars.read_parquet(on_dask)) == HANDOFFS
    # Nothing else is left.
    assert not list(tmp_path.glob("*.parts"))


def test_progress_of_threads(spec: Path, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    segue.sweep(spec, out=tmp_path / "out.parquet", progress=lambda *at: told.append(at))
    assert told == sorted(told) and told[-1] == (HANDOFFS, HANDOFFS)

    def refuse(finished: int, of: int) -> None:
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        segue.sweep(spec, out=tmp_path / "other.parquet", progress=refuse)


def test_what_was_done_is_not_done_again(spec: Path, tmp_path: Path, client: Client) -> None:
    out = tmp_path / "out.parquet"

    class EnoughError(Exception):
        pass

    def stop(finished: int, of: int) -> None:
        raise EnoughError

    with pytest.raises(EnoughError):
        segue.sweep(spec, out=out, client=client, progress=stop)
    kept = len(list((tmp_path / "out.parquet.parts").glob("*.parquet")))
    assert kept >= 1 and not out.exists()
    told: list[tuple[int, int]] = []
    segue.sweep(spec, out=out, client=client, progress=lambda *at: told.append(at))
    assert len(told) == PARTS - kept
    assert out.read_bytes() == segue.sweep(spec, out=tmp_path / "other.parquet").read_bytes()


# Parts of a second or so, so that a worker dies in the middle of one.
LONG = """
old = ['20mbit/5ms', '25mbit/5ms', '30mbit/5ms']
new = '200kbit/300ms'
kind = 'bbm'
flows = [4, 8]
schemes = ['sack', 'etcp-v1']
at = '1s..5s/1s'
"""


def test_a_worker_that_dies_costs_only_its_part(tmp_path: Path) -> None:
    spec = tmp_path / "long.toml"
    spec.write_text(LONG)
    told = list[int]()
    expected = segue.sweep(spec, out=tmp_path / "threads.parquet").read_bytes()
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster) as client:
        workers = list(client.run(os.getpid).values())

        def progress(at: int, _: int) -> None:
            if not told:
                os.kill(workers[0], signal.SIGKILL)
            told.append(at)

        out = segue.sweep(spec, out=tmp_path / "dask.parquet", client=client, progress=progress)
        assert workers[0] not in client.run(os.getpid).values(), "it did not die"
    assert out.read_bytes() == expected
    # Each part came once.
    assert len(told) == len(set(told)) == 6


def worker_with(folder: Path, version: str) -> dict[str, str]:
    """The environment of a worker that has another Segue."""
    package = Path(segue.__file__).parent
    shutil.copytree(package, folder / "segue")
    with (folder / "segue" / "__init__.py").open("a") as file:
        file.write(f"\n__version__ = {version!r}\n")
    return {**os.environ, "PYTHONPATH": str(folder)}


def test_a_worker_with_another_version_is_refused_by_name(spec: Path, tmp_path: Path) -> None:
    with LocalCluster(n_workers=0, dashboard_address=":0") as cluster, Client(cluster) as client:
        words = [sys.executable, "-m", "distributed.cli.dask_worker", cluster.scheduler_address, "--no-dashboard"]
        other = subprocess.Popen(
            words, env=worker_with(tmp_path / "other", "0.0.9"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
            (name,) = client.scheduler_info()["workers"]
            with pytest.raises(ValueError) as raised:
                segue.sweep(spec, out=tmp_path / "out.parquet", client=client)
            expected = f"worker {name} has segue 0.0.9; expected segue {segue.__version__} on every worker"
            assert str(raised.value) == expected
            # The task refuses as well: a worker may come later than the question.
            from segue._dask import part

            task = client.submit(part, segue.__version__, SPEC, str(spec), "", 0)
            with pytest.raises(ValueError, match="has segue 0.0.9"):
                task.result(timeout=PATIENCE)
        finally:
            other.terminate()
            other.wait(timeout=PATIENCE)


def test_a_worker_with_other_measured_links_is_refused(tmp_path: Path, client: Client) -> None:
    from segue._dask import part

    task = client.submit(part, segue.__version__, SPEC, str(tmp_path / "sweep.toml"), "another", 0)
    with pytest.raises(ValueError, match="measured links of other content"):
        task.result(timeout=PATIENCE)


def test_an_address_that_does_not_answer(spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("segue._dask.PATIENCE_S", 1)
    with socket.socket() as silent:
        # It listens and never says a word.
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        for address in (f"tcp://127.0.0.1:{silent.getsockname()[1]}", "tcp://127.0.0.1:1", "gopher://127.0.0.1:1", ""):
            with pytest.raises(OSError) as raised:
                segue.sweep(spec, out=tmp_path / "out.parquet", client=address)
            assert len(str(raised.value).splitlines()) == 1 and f"`{address}`" in str(raised.value)
    assert not (tmp_path / "out.parquet.parts").exists()


def test_a_cluster_without_workers(spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("segue._dask.PATIENCE_S", 1)
    with LocalCluster(n_workers=0, dashboard_address=":0") as cluster, Client(cluster) as client:
        with pytest.raises(OSError, match="has no worker after 1 s"):
            segue.sweep(spec, out=tmp_path / "out.parquet", client=client)


def test_a_client_that_is_closed_or_none(spec: Path, tmp_path: Path, cluster: LocalCluster) -> None:
    client = Client(cluster, set_as_default=False)
    client.close()
    with pytest.raises(ConnectionError, match="closed"):
        segue.sweep(spec, out=tmp_path / "out.parquet", client=client)
    with pytest.raises(TypeError, match="expected a synchronous"):
        segue.sweep(spec, out=tmp_path / "out.parquet", client=8786)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="expected client or threads"):
        segue.sweep(spec, out=tmp_path / "out.parquet", client="tcp://127.0.0.1:1", threads=2)


def test_bad_sweeps(spec: Path, tmp_path: Path, command_line: Any) -> None:
    with pytest.raises(FileNotFoundError):
        segue.sweep(tmp_path / "none.toml", out=tmp_path / "out.parquet")
    bad = tmp_path / "bad.toml"
    bad.write_text(SPEC.replace("schemes", "scheme"))
    out, nowhere = str(tmp_path / "out.parquet"), "/proc/nowhere/x.parquet"
    mistakes: list[tuple[list[str], Callable[[], object]]] = [
        (["sweep", str(bad), "--out", out], lambda: segue.sweep(bad, out=out)),
        (["sweep", str(spec), "--out", nowhere], lambda: segue.sweep(spec, out=nowhere)),
        (["sweep", str(spec), "--out", str(spec)], lambda: segue.sweep(spec, out=spec)),
        (["sweep", str(spec), "--out", out, "--threads", "0"], lambda: segue.sweep(spec, out=out, threads=0)),
    ]
    for words, call in mistakes:
        done = command_line(*words)
        assert done.returncode == 2, done
        with pytest.raises(ValueError) as raised:
            call()
        assert f"segue: {raised.value}\n" == done.stderr


def test_ctrl_c_keeps_the_parts_that_are_done(tmp_path: Path) -> None:
    spec = tmp_path / "long.toml"
    spec.write_text(LONG.replace("4, 8", "1, 8"))
    source = f"""
        import segue
        try:
            segue.sweep({str(spec)!r}, out={str(tmp_path / "out.parquet")!r}, threads=1,
                        progress=lambda at, of: print(at, flush=True))
        except KeyboardInterrupt:
            print("interrupted")
    """
    running = subprocess.Popen([sys.executable, "-c", textwrap.dedent(source)], stdout=subprocess.PIPE, text=True)
    parts = tmp_path / "out.parquet.parts"
    while not list(parts.glob("part-*.parquet")):
        assert running.poll() is None
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    out, _ = running.communicate(timeout=PATIENCE)
    assert out.splitlines()[-1] == "interrupted"
    assert list(parts.glob("part-*.parquet"))
    whole = segue.sweep(spec, out=tmp_path / "out.parquet").read_bytes()
    assert whole == segue.sweep(spec, out=tmp_path / "other.parquet").read_bytes()


def test_bytes_that_are_no_part(spec: Path, tmp_path: Path) -> None:
    from segue._segue import SweepPlan, SweepStore

    plan = SweepPlan(SPEC, str(spec))
    store = SweepStore(plan, str(tmp_path / "out.parquet"))
    assert store.missing() == list(range(PARTS))
    for wrong in (b"", b"rubbish", plan.part(0)[:-100]):
        with pytest.raises(ValueError, match="part 0: "):
            store.keep(0, wrong)
    with pytest.raises(IndexError, match=f"no part {PARTS}; expected one below {PARTS}"):
        plan.part(PARTS)
    store.keep(0, plan.part(0))


def test_names_of_own_links_are_read_for_each_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = tmp_path / "segue" / "links.toml"
    names.parent.mkdir()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    spec = tmp_path / "own.toml"
    spec.write_text("old = 'home'\nnew = 'wlan'\nschemes = 'sack'\nat = '1s'\n")

    def rates(rate: str) -> tuple[Any, Any]:
        names.write_text(f"[links]\nhome = '{rate}/5ms'\n")
        out = tmp_path / f"{rate}.parquet"
        segue.sweep(spec, out=out)
        told = json.loads(segue.compare("home", "wlan", at="1s", schemes="sack").to_json())
        swept = polars.read_parquet(out)["transfer_s"].to_list()
        return told["origin"]["links"]["home"]["down"]["rate_bps"], swept == [told["rows"][0]["transfer_s"]["median"]]

    assert rates("2mbit") == (2_000_000, True)
    assert rates("4mbit") == (4_000_000, True)
