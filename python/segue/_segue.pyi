# Types of the compiled part; docstrings are with the code (python/src).

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar, final

import pandas
import polars
from typing_extensions import CapsuleType, disjoint_base

__version__: str

__all__ = [
    "Claims",
    "Comparison",
    "Schema",
    "SweepPlan",
    "SweepStore",
    "Table",
    "TcpHo",
    "Trace",
    "__version__",
    "compare",
    "lcfd",
    "main",
    "reproduce",
    "run",
    "tcp_ho",
    "trace",
]

_T = TypeVar("_T")
_Several: TypeAlias = _T | Sequence[_T]
# A word with its unit, or seconds.
_Time: TypeAlias = str | float
_Kind: TypeAlias = Literal["mbb", "bbm", "soft", "ping-pong"]
_Settings: TypeAlias = Mapping[str, str | float | bool]

@disjoint_base
class Table:
    def __arrow_c_stream__(self, requested_schema: CapsuleType | None = None) -> CapsuleType: ...
    def __arrow_c_schema__(self) -> CapsuleType: ...
    def __len__(self) -> int: ...
    @property
    def schema(self) -> Schema: ...
    def to_polars(self) -> polars.DataFrame: ...
    def to_pandas(self) -> pandas.DataFrame: ...

@final
class Schema:
    @property
    def names(self) -> list[str]: ...
    @property
    def types(self) -> list[str]: ...
    def __arrow_c_schema__(self) -> CapsuleType: ...

@final
class Comparison(Table):
    @property
    def rows(self) -> Table: ...
    def to_json(self) -> str: ...

@final
class Trace(Table):
    @property
    def story(self) -> str: ...
    def to_json(self) -> str: ...
    def pcapng(self, folder: str | os.PathLike[str]) -> list[Path]: ...

@final
class Claims(Table):
    def to_json(self) -> str: ...

@final
class TcpHo:
    @property
    def gains(self) -> Table: ...
    @property
    def savings(self) -> Table: ...
    def to_json(self) -> str: ...

@final
class SweepPlan:
    def __new__(cls, text: str, path: str) -> SweepPlan: ...
    @property
    def text(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def fingerprint(self) -> str: ...
    @property
    def handoffs(self) -> int: ...
    def handoffs_of(self, part: int) -> int: ...
    def weight(self, part: int) -> int: ...
    def part(self, part: int) -> bytes: ...

@final
class SweepStore:
    def __new__(cls, plan: SweepPlan, out: str) -> SweepStore: ...
    def missing(self) -> list[int]: ...
    def run(
        self, *, threads: int | None = None, progress: Callable[[int, int], object] | None = None
    ) -> None: ...
    def keep(self, part: int, bytes: bytes) -> None: ...
    def finish(self) -> int: ...

def compare(
    old: str,
    new: str,
    *,
    both_ways: bool = False,
    kind: _Several[_Kind] | None = None,
    disconnect: _Time | None = None,
    overlap: _Time | None = None,
    soft: Literal["duplicate", "split"] | None = None,
    return_after: _Time | None = None,
    address: Literal["keep", "new"] | None = None,
    flows: _Several[int] | None = None,
    schemes: _Several[str] | None = None,
    at: _Time | None = None,
    warm_up: _Time | None = None,
    packets: int | None = None,
    definition: Literal["after-highest", "after-ack"] | None = None,
    notice: Literal["instant", "in-band"] | None = None,
    notice_loss: int | None = None,
    notice_error: str | None = None,
    neighbours: str | None = None,
    traffic: str | None = None,
    handoffs: int | None = None,
    every: _Time | None = None,
    stack: str | None = None,
    cc: Literal["cubic", "reno", "bbr", "bbr3", "leocc"] | None = None,
    settings: _Settings | None = None,
    seed: int | None = None,
    seeds: int | None = None,
    threads: int | None = None,
    rows: bool = True,
) -> Comparison: ...
def run(
    path: str | os.PathLike[str],
    *,
    points: int | None = None,
    threads: int | None = None,
    rows: bool = True,
) -> Comparison: ...
def trace(
    old: str,
    new: str,
    *,
    at: _Time,
    kind: _Kind | None = None,
    disconnect: _Time | None = None,
    overlap: _Time | None = None,
    soft: Literal["duplicate", "split"] | None = None,
    return_after: _Time | None = None,
    address: Literal["keep", "new"] | None = None,
    flows: int | None = None,
    schemes: _Several[str] | None = None,
    packets: int | None = None,
    definition: Literal["after-highest", "after-ack"] | None = None,
    notice: Literal["instant", "in-band"] | None = None,
    notice_loss: int | None = None,
    notice_error: str | None = None,
    neighbours: str | None = None,
    stack: str | None = None,
    cc: Literal["cubic", "reno", "bbr", "bbr3", "leocc"] | None = None,
    settings: _Settings | None = None,
    seed: int | None = None,
) -> Trace: ...
def reproduce(
    paper: str | None = None,
    figure: str | None = None,
    *,
    out: str | os.PathLike[str] | None = None,
    points: int | None = None,
    settings: _Settings | None = None,
    cache: bool = True,
    threads: int | None = None,
) -> Claims: ...
def tcp_ho(
    *,
    b: _Several[float] | None = None,
    c: _Several[float] | None = None,
    sigma: str | float | None = None,
    rto: _Time | None = None,
) -> TcpHo: ...
def lcfd(
    *,
    mode: Literal["corrected", "printed"] | None = None,
    figure: Literal[5, 6, 8, 11] | None = None,
    w_max: int | None = None,
    buffer: int | None = None,
    p: float | None = None,
    sojourn: tuple[float, float] | None = None,
    latency: tuple[float, float] | None = None,
    rto: _Time | None = None,
) -> Table: ...
def main() -> int: ...
