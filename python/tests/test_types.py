"""The stubs say what is there, and tell mistakes before anything runs."""

import subprocess
import sys
import textwrap
from pathlib import Path

from conftest import PATIENCE

ROOT = Path(__file__).parents[2]
CONFIG = str(ROOT / "pyproject.toml")


def mypy(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mypy", *words], capture_output=True, text=True, check=False, cwd=cwd, timeout=PATIENCE
    )


def test_stubs_are_those_of_the_compiled_part(tmp_path: Path) -> None:
    # Names and signatures are compared, not types of libraries; stubtest keeps no cache and would read them all.
    config = tmp_path / "mypy.ini"
    config.write_text("[mypy]\nfollow_imports = skip\n[mypy-segue.*]\nfollow_imports = normal\n")
    done = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "segue._segue", "--mypy-config-file", str(config)],
        capture_output=True, text=True, check=False, cwd=tmp_path, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


GOOD = """
    import pyarrow
    import segue

    result = segue.compare("wlan", "egprs", kind=["mbb", "bbm"], disconnect=0.5, flows=(1, 2), settings={"min-rto": "1s"})
    rows: int = len(result) + len(result.rows)
    names: list[str] = result.schema.names
    best = result.to_polars()["transfer_median_s"].min()
    table = pyarrow.table(result)
    story: str = segue.trace("wlan", "egprs", at="8.2s").story
    gains = segue.model.tcp_ho(b=[58], c=[50.5]).gains.to_pandas()
"""

BAD = [
    ('segue.compare("wlan")', "Missing positional argument"),
    ('segue.compare("wlan", "egprs", kind="mb")', "incompatible type"),
    ('segue.compare("wlan", "egprs", colour=3)', "Unexpected keyword argument"),
    ('segue.compare("wlan", "egprs", flows="1")', "incompatible type"),
    ('segue.trace("wlan", "egprs")', 'Missing named argument "at"'),
    ('segue.run("x.toml").story', 'has no attribute "story"'),
]


def test_a_sample_is_well_typed_and_mistakes_are_told(tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text(textwrap.dedent(GOOD))
    lines = ["import segue", *(call for call, _ in BAD)]
    (tmp_path / "bad.py").write_text("\n".join(lines) + "\n")
    # The options of all runs are the same (strict ones), or mypy would read the libraries again.
    told = mypy("--config-file", CONFIG, "good.py", "bad.py", cwd=tmp_path).stdout.splitlines()
    assert not [line for line in told if line.startswith("good.py")], told
    for number, (_, part) in enumerate(BAD, start=2):
        assert any(line.startswith(f"bad.py:{number}:") and part in line for line in told), (part, told)


def test_our_own_python_is_well_typed() -> None:
    done = mypy("--config-file", CONFIG, "python/segue", "python/tests", cwd=ROOT)
    assert done.returncode == 0, done.stdout
