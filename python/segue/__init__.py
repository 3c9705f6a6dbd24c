"""The effect on TCP of a change of the access link (a handoff), and remedies.

The same comparisons as the command line's, with the same words, defaults and messages. Results are tables that polars,
pandas, pyarrow and everything else that knows Arrow take without copying. docs/guide/python.md has examples.

    import segue

    segue.compare("6400kbit/9ms", "200kbit/300ms").to_polars()
"""

from . import model
from ._segue import (
    Claims,
    Comparison,
    Schema,
    Table,
    Trace,
    __version__,
    compare,
    reproduce,
    run,
    trace,
)
from ._sweep import sweep

__all__ = [
    "Claims",
    "Comparison",
    "Schema",
    "Table",
    "Trace",
    "__version__",
    "compare",
    "model",
    "reproduce",
    "run",
    "sweep",
    "trace",
]
