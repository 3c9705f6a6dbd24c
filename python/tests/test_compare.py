"""`segue.compare` and `segue.run` give what the command line gives."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import segue

LINKS = ("6400kbit/9ms", "200kbit/300ms")
EXAMPLES = Path(__file__).parents[2] / "examples"
JsonOf = Callable[..., Any]

# Columns whose names in the JSON are paths.
NESTED = {
    "transfer_q1_s": "transfer_s.q1",
    "transfer_median_s": "transfer_s.median",
    "transfer_q3_s": "transfer_s.q3",
    "over_bound_median": "over_bound.median",
    "over_bound_p90": "over_bound.p90",
    "useful_s": "new_link_s.useful",
    "needless_s": "new_link_s.needless",
    "idle_path_s": "new_link_s.idle_path",
    "idle_window_s": "new_link_s.idle_window",
    "idle_timer_s": "new_link_s.idle_timer",
    "idle_other_s": "new_link_s.idle_other",
    "queue_delay_median_s": "queue_delay_s.median",
    "queue_delay_p95_s": "queue_delay_s.p95",
    "ratio_to_first_median": "against_first.ratio_median",
    "better_than_first": "against_first.better",
    "worse_than_first": "against_first.worse",
    "over_bound_told_median": "over_bound_told.median",
    "over_bound_told_p90": "over_bound_told.p90",
}


def at_path(row: Any, column: str) -> Any:
    if column == "seeds":
        # The JSON leaves out what is 1.
        return row.get("seeds", 1)
    for name in NESTED.get(column, column).split("."):
        row = row[name]
    return " ".join(f"{key}={value}" for key, value in row.items()) if column == "settings" else row


def assert_same(table: segue.Table, rows: list[Any]) -> None:
    """Every column of every row is the JSON's."""
    frame = table.to_polars()
    assert frame.columns == table.schema.names
    assert frame.to_dicts() == [{name: at_path(row, name) for name in frame.columns} for row in rows]


def test_every_argument_means_what_the_option_means(json_of: JsonOf) -> None:
    result = segue.compare(
        *LINKS,
        both_ways=True,
        kind=["mbb", "bbm"],
        disconnect=0.5,
        flows=[1, 2],
        schemes=["sack", "etcp-v0", "etcp-v1"],
        at="1s..6s/0.5s",
        packets=50,
        definition="after-ack",
        notice="in-band",
        notice_loss=1,
        stack="rfc",
        settings={"rto-floor-ms": 300},
        seed=3,
        seeds=2,
        threads=2,
    )
    document = json_of(
        "compare", *LINKS, "--both-ways", "--kind", "mbb,bbm", "--disconnect", "500ms", "--flows", "1,2",
        "--schemes", "sack,etcp-v0,etcp-v1", "--at", "1s..6s/0.5s", "--packets", "50", "--definition", "after-ack",
        "--notice", "in-band", "--notice-loss", "1", "--stack", "rfc", "--set", "rto-floor-ms=300",
        "--seed", "3", "--seeds", "2",
    )  # fmt: skip
    assert len(result) == len(document["rows"]) == 2 * 2 * 2 * 3
    assert_same(result, document["rows"])
    assert json.loads(result.to_json()) == document


def test_linux_has_a_choice_of_congestion_controls(json_of: JsonOf) -> None:
    result = segue.compare(
        *LINKS, schemes=["sack", "cubic"], at="1s..2s/1s", warm_up=5, stack="linux-6.12", cc="bbr", settings={"hz": 1000}
    )
    document = json_of(
        "compare", *LINKS, "--schemes", "sack,cubic", "--at", "6s..7s/1s", "--stack", "linux-6.12/bbr", "--set", "hz=1000"
    )
    assert_same(result, document["rows"])
    assert [row["stack"] for row in document["rows"]] == ["linux-6.12/bbr", "linux-6.12/cubic"]
    trace = segue.trace(*LINKS, at=2, schemes="sack", stack="linux-6.12", cc="bbr")
    assert "linux-6.12/bbr" in trace.story


@pytest.mark.parametrize(
    "words",
    [
        "up=5mbit/30ms,loss=1%",
        "loss=ge(0.5%,30%)/1ms,jitter=5ms,reorder=1%",
        "loss=ge(0.5%,30%,70%,1%),jitter=pareto(5ms)",
        "vary=walk(30%),arq=10%/8ms",
        "vary=markov(20%,2%,10%),police=5mbit/64kB",
        "reconfigure=15s@12s(80ms,10ms),queue=codel,50p,ecn",
        "queue=fq_codel,shape=5mbit/64kB",
        "queue=pie,aggregate=64/200us",
        "queue=red,grant=10ms/4ms,up-loss=2%",
    ],
)
def test_words_of_links_mean_what_they_mean_on_the_command_line(words: str, json_of: JsonOf) -> None:
    link = f"10mbit/20ms,{words}"
    result = segue.compare(link, "leo", both_ways=True, at="2s", schemes="sack")
    document = json_of("compare", link, "leo", "--both-ways", "--at", "2s", "--schemes", "sack")
    assert json.loads(result.to_json()) == document


def test_handoffs_and_users_mean_what_they_mean_on_the_command_line(json_of: JsonOf) -> None:
    links = ("wifi6", "lte")
    series = segue.compare(*links, at="3s", handoffs=2, every=5, notice_error="rate=2x,late=50ms", traffic="download,page")
    assert json.loads(series.to_json()) == json_of(
        "compare", *links, "--at", "3s", "--handoffs", "2", "--every", "5s",
        "--notice-error", "rate=2x,late=50ms", "--traffic", "download,page",
    )  # fmt: skip
    others = segue.compare(*links, at="3s", neighbours="2 cubic")
    assert json.loads(others.to_json()) == json_of("compare", *links, "--at", "3s", "--neighbours", "2 cubic")


def test_connections_may_begin_anew(json_of: JsonOf) -> None:
    result = segue.compare(*LINKS, at="2s..3s/1s", kind=["mbb", "bbm"], address="new")
    document = json_of("compare", *LINKS, "--at", "2s..3s/1s", "--kind", "mbb,bbm", "--address", "new")
    assert_same(result, document["rows"])
    assert "the mobile's address is another" in segue.trace(*LINKS, at=2, address="new").story


def test_defaults_are_those_of_the_command_line(json_of: JsonOf) -> None:
    assert json.loads(segue.compare(*LINKS).to_json()) == json_of("compare", *LINKS)


@settings(max_examples=15, deadline=None)
@given(
    rates=st.tuples(st.integers(50, 9000), st.integers(50, 9000)),
    delays=st.tuples(st.integers(1, 300), st.integers(1, 300)),
    kind=st.sampled_from(["mbb", "bbm"]),
    disconnect=st.integers(1, 3000),
    flows=st.integers(1, 3),
    schemes=st.lists(st.sampled_from(["sack", "etcp-v1", "newreno", "tcp-ho", "freeze"]), min_size=1, unique=True),
    at=st.integers(100, 8000),
    seed=st.integers(1, 2**63),
)
def test_random_comparisons_equal_the_command_line(
    json_of: JsonOf,
    rates: tuple[int, int],
    delays: tuple[int, int],
    kind: Any,
    disconnect: int,
    flows: int,
    schemes: list[str],
    at: int,
    seed: int,
) -> None:
    old, new = (f"{rate}kbit/{delay}ms" for rate, delay in zip(rates, delays, strict=True))
    # A disconnection belongs to break-before-make alone.
    outage: dict[str, Any] = {"disconnect": disconnect / 1000} if kind == "bbm" else {}
    words = ["--disconnect", f"{disconnect}ms"] if kind == "bbm" else []
    result = segue.compare(old, new, kind=kind, **outage, flows=flows, schemes=schemes, at=at / 1000, seed=seed)
    document = json_of(
        "compare", old, new, "--kind", kind, *words, "--flows", str(flows),
        "--schemes", ",".join(schemes), "--at", f"{at}ms", "--seed", str(seed),
    )  # fmt: skip
    assert_same(result, document["rows"])


def test_single_handoffs_are_those_of_rows(command_line: Any, tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    words = ["compare", *LINKS, "--kind", "bbm", "--at", "1s..5s/0.5s", "--seeds", "2", "--rows", str(file)]
    assert command_line(*words).returncode == 0
    rows = segue.compare(*LINKS, kind="bbm", at="1s..5s/0.5s", seeds=2).rows
    frame = rows.to_polars()
    assert len(rows) == 9 * 2 * 2
    assert frame.equals(polars.read_csv(file, schema=frame.schema))
    with pytest.raises(ValueError, match="rows=True"):
        _ = segue.compare(*LINKS, at=1, rows=False).rows


def test_an_infinite_time_is_null() -> None:
    # A link that carries 100 packets in more than the 400 s after which a run ends.
    frame = segue.compare("2mbit/20ms", "2kbit/300ms", at=5, schemes="sack").to_polars()
    assert frame["incomplete"].to_list() == [1]
    assert frame["transfer_median_s"].to_list() == [None]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_do_not_change_a_byte(threads: int) -> None:
    alone = segue.compare(*LINKS, at="1s..8s/0.5s", flows=[1, 2], threads=1)
    many = segue.compare(*LINKS, at="1s..8s/0.5s", flows=[1, 2], threads=threads)
    assert many.to_json() == alone.to_json()
    assert many.rows.to_polars().equals(alone.rows.to_polars())


def test_a_file_gives_what_the_command_line_gives(json_of: JsonOf) -> None:
    path = EXAMPLES / "flows.toml"
    result = segue.run(path, points=3)
    assert_same(result, json_of("run", str(path), "--points", "3")["rows"])


def test_a_drive_gives_what_the_command_line_gives(json_of: JsonOf, tmp_path: Path) -> None:
    path = tmp_path / "drive.toml"
    path.write_text("[drive]\nof = 'wlan'\nlength = '60s'\n")
    result = segue.run(path, points=2)
    document = json_of("run", str(path), "--points", "2")
    assert json.loads(result.to_json()) == document
    assert result.to_polars()["scheme"].to_list() == [row["scheme"] for row in document["rows"]]
    with pytest.raises(ValueError, match="drives|handoffs"):
        _ = result.rows


def test_tables_are_shared_not_copied() -> None:
    table = segue.compare(*LINKS, at="1s..3s/1s").rows
    first, second = pyarrow.table(table), pyarrow.table(table)
    for name in table.schema.names:
        one, other = (of[name].chunk(0).buffers() for of in (first, second))  # type: ignore[attr-defined]  # of its stubs
        assert [buffer and buffer.address for buffer in one] == [buffer and buffer.address for buffer in other], name
    # It outlives the object that gave it.
    rows = first.num_rows
    del table
    assert len(first.to_pylist()) == rows
    schema = segue.compare(*LINKS, at=1).schema
    assert pyarrow.schema(schema).names == schema.names  # type: ignore[arg-type]  # its stubs do not know capsules


def test_pandas_has_the_same_columns() -> None:
    result = segue.compare(*LINKS, at=2)
    frame = result.to_pandas()
    assert list(frame.columns) == result.schema.names
    assert frame["scheme"].tolist() == ["sack", "etcp-v1"]
    assert frame["transfer_median_s"].tolist() == result.to_polars()["transfer_median_s"].to_list()
