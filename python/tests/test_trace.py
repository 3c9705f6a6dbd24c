"""`segue.trace` gives what the command line gives, event by event."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

import segue

LINKS = ("200kbit/300ms", "6400kbit/9ms")
WORDS = ["trace", *LINKS, "--at", "5s", "--kind", "bbm", "--disconnect", "2s", "--flows", "2", "--seed", "4"]


@pytest.fixture(scope="module")
def traced() -> segue.Trace:
    return segue.trace(*LINKS, at=5, kind="bbm", disconnect=2, flows=2, seed=4)


def test_text_and_lines_are_those_of_the_command_line(traced: segue.Trace, command_line: Any) -> None:
    assert traced.story == command_line(*WORDS, "--story").stdout
    assert traced.to_json() == command_line(*WORDS, "--json", "-").stdout


def in_columns(event: dict[str, Any]) -> dict[str, Any]:
    """A line of the JSON, flat; what does not stand there is not compared."""
    event = dict(event)
    if "sack" in event:
        blocks = (f"{left}" if right - left == 1 else f"{left}-{right - 1}" for left, right in event["sack"])
        event["sack"] = " ".join(blocks)
    if event["event"] == "decide":
        event["rules"] = ", ".join(f"{rule['name']} ({rule['section']})" for rule in event["rules"])
        advice = event.pop("advice")
        event["advice"] = ", ".join(advice.pop("also", []))
        event |= advice
    return event


def test_every_event_is_a_row(traced: segue.Trace) -> None:
    lines = [json.loads(line) for line in traced.to_json().splitlines()]
    events = [in_columns(line) for line in lines if line["event"] not in ("run", "counts")]
    rows = traced.to_polars().to_dicts()
    assert len(rows) == len(events) == len(lines) - 2 * 2
    for row, event in zip(rows, events, strict=True):
        assert {name: row[name] for name in event} == event
        # The rest is null, or a switch that is off.
        assert not any(value for name, value in row.items() if name not in event)
    kinds = {row["event"] for row in rows}
    assert {"send", "receive", "queue", "lose", "timeout", "decide", "state"} <= kinds


def test_captures_are_those_of_the_command_line(traced: segue.Trace, command_line: Any, tmp_path: Path) -> None:
    paths = traced.pcapng(tmp_path / "ours")
    done: subprocess.CompletedProcess[str] = command_line(*WORDS, "--pcap", str(tmp_path / "theirs"))
    assert done.returncode == 0, done.stderr
    assert [path.name for path in paths] == ["sack.pcapng", "etcp-v1.pcapng"]
    for path in paths:
        assert path.read_bytes() == (tmp_path / "theirs" / path.name).read_bytes()
