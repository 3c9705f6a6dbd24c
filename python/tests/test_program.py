"""The wheel's program is the command line; `python -m segue` is the same."""

import os
import re
import signal
import subprocess
import sys
from typing import Any

import pytest
from conftest import PATIENCE, wait_until_it_computes

import segue


def test_version_and_help(command_line: Any) -> None:
    version = re.compile(rf"segue {re.escape(segue.__version__)}( \([0-9a-f]{{7}}\))?\nfeatures: [a-z, ]+\n")
    told = command_line("--version").stdout
    assert version.fullmatch(told)
    assert "report" in told and "live" not in told
    for words in (["--help"], ["compare", "--help"]):
        done = command_line(*words)
        assert done.returncode == 0 and "Usage: segue" in done.stdout
    module = subprocess.run([sys.executable, "-m", "segue", "--version"], capture_output=True, text=True, check=True)
    assert module.stdout == told


@pytest.mark.parametrize("word", ["kernel", "agent", "lab", "doctor"])
def test_the_live_part_is_named(command_line: Any, word: str) -> None:
    done = command_line(word, "run")
    assert done.returncode == 2
    assert done.stderr.startswith(f"segue: `segue {word}`: this program was built without it; `make build`")
    assert len(done.stderr.splitlines()) == 1


def test_mistakes_end_with_status_2(command_line: Any) -> None:
    done = command_line("compair")
    assert (done.returncode, done.stdout) == (2, "")
    assert "did you mean `compare`?" in done.stderr


def test_a_closed_pipe_is_no_error(program: str) -> None:
    done = subprocess.run(f"{program} schemes | head -n 1", shell=True, capture_output=True, text=True, check=False)
    assert done.stderr == ""


# Minutes of work, unannounced.
LONG = ["compare", "100mbit/2ms", "50mbit/9ms", "--flows", "8", "--seeds", "1000", "--progress", "never"]


def test_ctrl_c_ends_the_program_as_it_ends_the_binary(program: str) -> None:
    running = subprocess.Popen([program, *LONG], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_until_it_computes(running)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=PATIENCE)
    assert (running.returncode, out, err) == (-signal.SIGINT, "", "")


def test_reports_name_the_command_line(command_line: Any, tmp_path: Any) -> None:
    page = tmp_path / "page.html"
    words = ["compare", "wlan", "egprs", "--at", "2s", "--report", str(page)]
    assert command_line(*words).returncode == 0
    text = re.sub(r"<[^>]*>", "", page.read_text())
    assert " ".join(words) in text


def test_names_of_files_need_not_be_utf8(program: str, tmp_path: Any) -> None:
    name = os.fsencode(tmp_path) + b"/\xff.json"
    done = subprocess.run(
        [program.encode(), b"compare", b"wlan", b"egprs", b"--at", b"2s", b"--json", name],
        capture_output=True, check=False,
    )  # fmt: skip
    # As the binary: options are text.
    assert done.returncode == 2 and b"UTF-8" in done.stderr
