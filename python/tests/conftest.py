"""The program that the wheel installs: the same command line as the Rust binary's."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# The same cases every time; `make fuzz` draws others.
settings.register_profile("repeatable", derandomize=True)
settings.register_profile("random")
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))

# A shell's children in the background ignore it, and theirs would, too.
signal.signal(signal.SIGINT, signal.default_int_handler)

CommandLine = Callable[..., subprocess.CompletedProcess[str]]

# Seconds after which a test gives up: far more than anything takes on a machine that does ten other things.
PATIENCE = 3600


def wait_until_it_computes(running: subprocess.Popen[str]) -> None:
    """Returns when it has used the processor for a second: more than it takes to start."""
    stat = Path(f"/proc/{running.pid}/stat")
    # proc_pid_stat(5): utime is the 14th field, and the second may hold blanks and parentheses.
    while int(stat.read_text().rpartition(")")[2].split()[11]) < os.sysconf("SC_CLK_TCK"):
        assert running.poll() is None, "it has ended"
        time.sleep(0.02)


@pytest.fixture(scope="session")
def program() -> str:
    """The wheel's program."""
    found = shutil.which("segue", path=str(Path(sys.executable).parent))
    assert found, "the wheel has installed no program segue"
    return found


@pytest.fixture(scope="session")
def command_line(program: str) -> CommandLine:
    """Runs it, without a terminal."""

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([program, *words], capture_output=True, text=True, timeout=PATIENCE, check=False)

    return run


@pytest.fixture(scope="session")
def json_of(command_line: CommandLine) -> Callable[..., Any]:
    """The document that a command writes with `--json -`."""

    def document(*words: str) -> Any:
        done = command_line(*words, "--json", "-")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return document
