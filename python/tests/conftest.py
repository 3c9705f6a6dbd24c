"""The program that the wheel installs: the same command line as the Rust binary's."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

CommandLine = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def program() -> str:
    """The wheel's program."""
    found = shutil.which("segue", path=str(Path(sys.executable).parent))
    assert found, "the wheel has installed no program segue"
    return found


@pytest.fixture(scope="session")
def command_line(program: str) -> CommandLine:
    """Runs it, without a terminal, and waits at most a minute."""

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([program, *words], capture_output=True, text=True, timeout=60, check=False)

    return run


@pytest.fixture(scope="session")
def json_of(command_line: CommandLine) -> Callable[..., Any]:
    """The document that a command writes with `--json -`."""

    def document(*words: str) -> Any:
        done = command_line(*words, "--json", "-")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return document
