"""Long runs leave Python alone: its lock, its signals, its forks, its start."""

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest
from conftest import PATIENCE, wait_until_it_computes

import segue

LINKS = ("6400kbit/9ms", "200kbit/300ms")


def python(source: str) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", textwrap.dedent(source)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_another_thread_counts_meanwhile() -> None:
    def interrupt() -> None:
        for _ in range(100):
            time.sleep(0.001)
        os.kill(os.getpid(), signal.SIGINT)

    # With Python's lock held, the other thread would count when the call has returned.
    with pytest.raises(KeyboardInterrupt):
        threading.Thread(target=interrupt).start()
        segue.compare("100mbit/2ms", "50mbit/9ms", flows=8, seeds=1000)


INTERRUPTED = """
    import segue
    try:
        {call}
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    # Not only the exception: nothing runs on, and the next call works.
    print(len(segue.compare("wlan", "egprs", at=1)), flush=True)
"""


@pytest.mark.parametrize(
    "call",
    [
        "segue.compare('100mbit/2ms', '50mbit/9ms', flows=8, seeds=1000)",
        "segue.reproduce('wu-2009-tcp-ho', cache=False)",
    ],
)
def test_ctrl_c_interrupts(call: str) -> None:
    running = python(INTERRUPTED.format(call=call))
    wait_until_it_computes(running)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=PATIENCE)
    assert (out, err, running.returncode) == ("interrupted\n2\n", "", 0)


def test_a_handler_of_signals_is_heard() -> None:
    running = python(
        """
        import signal, segue
        def raise_it(number, frame):
            raise TimeoutError("long enough")
        signal.signal(signal.SIGALRM, raise_it)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.5)
            segue.compare('100mbit/2ms', '50mbit/9ms', flows=8, seeds=1000)
        except TimeoutError as error:
            print(error)
        """
    )
    out, err = running.communicate(timeout=PATIENCE)
    assert (out, err) == ("long enough\n", "")


def few_rows(_: int) -> int:
    return len(segue.compare(*LINKS, at=1))


def test_a_fork_after_a_call_can_call() -> None:
    assert few_rows(0) == 2
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(few_rows, range(4)).get(timeout=PATIENCE) == [2] * 4


def test_several_threads_call_at_once() -> None:
    expected = segue.compare(*LINKS, at="1s..4s/1s").to_json()
    results: list[str] = []
    calls = [
        threading.Thread(target=lambda: results.append(segue.compare(*LINKS, at="1s..4s/1s").to_json()))
        for _ in range(6)
    ]
    for call in calls:
        call.start()
    for call in calls:
        call.join()
    assert results == [expected] * 6


def test_import_loads_no_table_library() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import segue, sys; print(*sys.modules)"], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    assert "segue" in loaded
    assert not {"polars", "pandas", "pyarrow", "numpy", "distributed", "asyncio"} & loaded
