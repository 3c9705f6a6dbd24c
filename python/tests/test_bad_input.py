"""A mistake raises what Python expects, with the command line's one line."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import segue

Call = Callable[[], object]
LINKS = ("6400kbit/9ms", "200kbit/300ms")

# Arguments, and the options that say the same.
MISTAKES: list[tuple[dict[str, Any], list[str]]] = [
    ({"schemes": "sak"}, ["--schemes", "sak"]),
    ({"schemes": []}, ["--schemes="]),
    ({"schemes": ["sack", "sack"]}, ["--schemes", "sack,sack"]),
    ({"kind": "mb"}, ["--kind", "mb"]),
    ({"flows": 0}, ["--flows", "0"]),
    ({"flows": -1}, ["--flows=-1"]),
    ({"flows": [1, 1]}, ["--flows", "1,1"]),
    ({"flows": 10**30}, ["--flows", str(10**30)]),
    ({"at": "5s..1s/1s"}, ["--at", "5s..1s/1s"]),
    ({"at": -1}, ["--at", "-1s"]),
    ({"at": float("nan")}, ["--at", "NaNs"]),
    ({"disconnect": "1 s"}, ["--disconnect", "1 s"]),
    ({"kind": "bbm", "disconnect": 0}, ["--kind", "bbm", "--disconnect", "0s"]),
    ({"packets": 0}, ["--packets", "0"]),
    ({"definition": "after"}, ["--definition", "after"]),
    ({"notice": "inband"}, ["--notice", "inband"]),
    ({"notice_loss": 1}, ["--notice-loss", "1"]),
    ({"stack": "linx"}, ["--stack", "linx"]),
    ({"stack": "rfc", "cc": "bbr"}, ["--stack", "rfc", "--cc", "bbr"]),
    ({"stack": "linux-6.12", "cc": "cubik"}, ["--stack", "linux-6.12", "--cc", "cubik"]),
    ({"warm_up": "soon"}, ["--warm-up", "soon"]),
    ({"settings": {"rto-flor-ms": 1}}, ["--set", "rto-flor-ms=1"]),
    ({"settings": {"": "1s"}}, ["--set", "=1s"]),
    ({"seed": 2**64}, ["--seed", str(2**64)]),
    ({"seeds": 0}, ["--seeds", "0"]),
    ({"threads": 0}, ["--threads", "0"]),
]


@pytest.mark.parametrize(("arguments", "words"), MISTAKES, ids=lambda value: str(value)[:40])
def test_the_line_is_that_of_the_command_line(command_line: Any, arguments: dict[str, Any], words: list[str]) -> None:
    done = command_line("compare", *LINKS, *words)
    assert done.returncode == 2, done
    with pytest.raises(ValueError) as raised:
        segue.compare(*LINKS, **arguments)
    assert f"segue: {raised.value}\n" == done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("link", ["", "6400kbit", "--help", "-", "wlam", "trace:", "6400kbit/9ms,queue=0p", "a\nb"])
def test_bad_links(command_line: Any, link: str) -> None:
    done = command_line("compare", "--", link, LINKS[1])
    assert done.returncode == 2, done
    with pytest.raises(ValueError) as raised:
        segue.compare(link, LINKS[1])
    assert f"segue: {raised.value}\n" == done.stderr


WRONG_TYPES: list[tuple[str, Any, str]] = [
    ("schemes", 3, "expected str or a list of it, not int"),
    ("schemes", [3], "expected str, not int"),
    ("schemes", b"sack", "expected str, not int"),
    ("flows", 1.5, "expected int or a list of it, not float"),
    ("flows", True, "expected int or a list of it, not bool"),
    ("flows", "1,2", "expected int or a list of it, not str"),
    ("at", [1, 2], "expected str such as '1s', or int or float in seconds, not list"),
    ("packets", "100", "expected int, not str"),
    ("settings", "rto-floor-ms=1", "expected a dict of settings, str to str, int, float or bool, not str"),
    ("settings", {"rto-floor-ms": None}, "expected a dict of settings, str to str, int, float or bool, not NoneType"),
    ("settings", {3: "1s"}, "expected str, not int"),
    ("both_ways", "yes", "'str' object is not an instance of 'bool'"),
]


@pytest.mark.parametrize(("name", "value", "message"), WRONG_TYPES, ids=lambda value: str(value)[:40])
def test_another_type_is_named(name: str, value: Any, message: str) -> None:
    with pytest.raises(TypeError) as raised:
        segue.compare(*LINKS, **{name: value})
    assert str(raised.value) == message
    # A note, which tracebacks show.
    assert raised.value.__notes__ == [f"while processing '{name}'"]


def test_an_unknown_argument_is_named() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        segue.compare(*LINKS, colour=3)  # type: ignore[call-arg]


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as raised:
        segue.run(tmp_path / "none.toml")
    assert raised.value.filename == str(tmp_path / "none.toml")
    with pytest.raises(FileNotFoundError):
        segue.compare(f"trace:{tmp_path}/none.down", LINKS[1])
    with pytest.raises(FileNotFoundError):
        segue.trace(LINKS[0], f"trace:{tmp_path}/none.down", at=1)
    with pytest.raises(IsADirectoryError):
        segue.compare(f"trace:{tmp_path}", LINKS[1])
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(OSError):
        segue.trace(*LINKS, at=1).pcapng(file)
    with pytest.raises(OSError):
        segue.reproduce(out=file / "gallery", points=1)


def test_a_bad_file_has_its_place(command_line: Any, tmp_path: Path) -> None:
    file = tmp_path / "bad.toml"
    file.write_text("old = 'wlan'\nnew = 'wlam'\n")
    with pytest.raises(ValueError) as raised:
        segue.run(file)
    assert f"segue: {raised.value}\n" == command_line("run", str(file)).stderr
    assert f"{file}, line 2, column 7" in str(raised.value)


def test_bad_input_of_the_rest(command_line: Any) -> None:
    calls: list[tuple[Call, list[str]]] = [
        (lambda: segue.reproduce("chou"), ["reproduce", "chou", "--check"]),
        (lambda: segue.model.lcfd(p=2), ["model", "lcfd", "--p", "2"]),
        (lambda: segue.model.lcfd(figure=7), ["model", "lcfd", "--figure", "7"]),  # type: ignore[arg-type]
        (lambda: segue.model.lcfd(p=0.5, latency=(0.3, 0.5)), ["model", "lcfd", "--p", "0.5", "--latency=0.3..0.5"]),
        (lambda: segue.model.tcp_ho(b=5), ["model", "tcp-ho", "--b", "5"]),
        (lambda: segue.model.tcp_ho(sigma=0), ["model", "tcp-ho", "--sigma", "0"]),
        (lambda: segue.trace(*LINKS, at="soon"), ["trace", *LINKS, "--at", "soon"]),
    ]
    for call, words in calls:
        done = command_line(*words)
        assert done.returncode == 2, done
        with pytest.raises(ValueError) as raised:
            call()
        assert f"segue: {raised.value}\n" == done.stderr


WORD = st.text(max_size=12).filter(lambda word: "\0" not in word)


@settings(max_examples=200, deadline=None)
@given(
    name=st.sampled_from(["schemes", "kind", "disconnect", "definition", "notice", "stack"]),
    word=WORD,
    link=WORD,
)
def test_random_words_are_refused_in_one_line(name: str, word: str, link: str) -> None:
    calls: list[Call] = [
        lambda: segue.compare(*LINKS, at=0.5, rows=False, **{name: word}),  # type: ignore[arg-type]
        lambda: segue.compare(link, LINKS[1], at=0.5, rows=False),
        lambda: segue.compare(*LINKS, at=0.5, rows=False, settings={word: link}),
    ]
    for call in calls:
        try:
            call()
        except (ValueError, OSError) as error:
            assert str(error) and "\n" not in str(error), error
