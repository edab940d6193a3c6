"""Ports for servers that tests start."""

from __future__ import annotations

import socket
from contextlib import ExitStack


def free_ports(count: int, kind: socket.SocketKind = socket.SOCK_STREAM) -> list[int]:
    """Ports that nobody listens on at the moment, all different."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket(type=kind)) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
