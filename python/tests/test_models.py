"""`segue.model` and `segue.reproduce` give what the command line gives."""

import csv
import json
import shlex
from pathlib import Path
from typing import Any

import segue


def csv_of(command_line: Any, *words: str) -> list[dict[str, str]]:
    done = command_line(*words, "--csv", "-")
    assert done.returncode == 0, done.stderr
    # The first lines say where the table comes from.
    lines = done.stdout.splitlines()
    assert lines[0].startswith("# program: "), lines[0]
    return list(csv.DictReader(line for line in lines if not line.startswith("# ")))


def assert_same(table: segue.Table, lines: list[dict[str, str]]) -> None:
    rows = table.to_polars().to_dicts()
    assert len(rows) == len(lines) > 0
    for row, line in zip(rows, lines, strict=True):
        assert list(row) == list(line)
        for name, value in row.items():
            if value is None:
                assert line[name] == ""
            else:
                assert type(value)(line[name]) == value, name


def questions_aside(document: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The document without its command, and that command's words: Python's and the command line's differ in form."""
    words = shlex.split(document["origin"].pop("command"))
    assert words[0] == "segue"
    return document, words[1:]


def test_tcp_ho(command_line: Any, json_of: Any) -> None:
    words = ["model", "tcp-ho", "--b", "300", "--c", "20", "--b", "300", "--c", "280", "--sigma", "10..30/5"]
    result = segue.model.tcp_ho(b=[300, 300], c=[20, 280.0], sigma="10..30/5")
    assert_same(result.gains, csv_of(command_line, *words))
    document, _ = questions_aside(json_of(*words))
    own, asked = questions_aside(json.loads(result.to_json()))
    assert own == document
    # The command asks the same.
    assert questions_aside(json_of(*asked))[0] == document
    assert result.savings.to_polars().to_dicts() == document["waits"]
    own, _ = questions_aside(json.loads(segue.model.tcp_ho(rto=0.3).to_json()))
    assert own == questions_aside(json_of("model", "tcp-ho", "--rto", "300ms"))[0]


def test_lcfd(command_line: Any) -> None:
    assert_same(segue.model.lcfd(), csv_of(command_line, "model", "lcfd"))
    own = segue.model.lcfd(mode="printed", w_max=40, buffer=32, latency=(0.3, 0.5), sojourn=(35, 65), rto="1s")
    words = ["--mode", "printed", "--w-max", "40", "--buffer", "32", "--latency", "0.3..0.5", "--sojourn", "35..65"]
    assert_same(own, csv_of(command_line, "model", "lcfd", *words))


def test_reproduce(json_of: Any, tmp_path: Path) -> None:
    paper, figure = "chou-shin-2004-lcfd", "fig5"
    # With a folder it draws.
    claims = segue.reproduce(paper, figure, out=tmp_path / "gallery", points=1, cache=False)
    document, _ = questions_aside(json_of("reproduce", paper, figure, "--check", "--points", "1", "--no-cache"))
    assert len(claims) > 0 and claims.to_polars().to_dicts() == document["claims"]
    own, _ = questions_aside(json.loads(claims.to_json()))
    assert own == document
    names = {path.name for path in (tmp_path / "gallery").iterdir()}
    assert {"index.html", f"{paper}-{figure}.csv"} <= names
