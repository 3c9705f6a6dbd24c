"""The command line: `segue` of the wheel, and `python -m segue`."""

import sys

from ._segue import main


def program() -> int:
    """Does what `sys.argv` asks for and gives the exit status."""
    return main()


if __name__ == "__main__":
    sys.exit(program())
