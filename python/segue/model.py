"""What the papers' analytic models compute (docs/models.md)."""

from ._segue import TcpHo, lcfd, tcp_ho

__all__ = ["TcpHo", "lcfd", "tcp_ho"]
