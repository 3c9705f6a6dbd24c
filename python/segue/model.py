"""The analytic models of the papers (docs/papers/models.md)."""

from ._segue import TcpHo, lcfd, tcp_ho

__all__ = ["TcpHo", "lcfd", "tcp_ho"]
