"""The examples run: the sweep on a cluster of its own, and the notebook over a sweep."""

import re
import subprocess
import sys
from pathlib import Path

from conftest import PATIENCE

import segue

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, check=False, cwd=folder, timeout=PATIENCE)


def test_dask_sweep(tmp_path: Path) -> None:
    done = run(sys.executable, str(EXAMPLES / "dask_sweep.py"), folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "1440 of 1440 rows" in done.stderr and "etcp-v1" in done.stdout
    alone = segue.sweep(EXAMPLES / "sweep-small.toml", out=tmp_path / "threads.parquet")
    assert (tmp_path / "sweep-small.parquet").read_bytes() == alone.read_bytes()


def test_which_scheme(tmp_path: Path) -> None:
    sweep = segue.sweep(EXAMPLES / "sweep-small.toml", out=tmp_path / "small.parquet")
    words = ["export", "html", str(EXAMPLES / "which_scheme.py"), "-o", "page.html", "--", "--sweep", str(sweep)]
    done = run(sys.executable, "-m", "marimo", *words, folder=tmp_path)
    # The status tells of a cell that failed.
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "page.html").read_text()
    assert "1,440 handoffs, 36 cases" in page
    # The answer, with its numbers; the source has braces there.
    assert len(re.findall(r"\d\.\d times the bound at worst", page)) == 4
