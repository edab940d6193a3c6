"""The buffer between a sender and a PostgreSQL on the same machine."""

from __future__ import annotations

import os
import socket
from contextlib import suppress

SEND_BYTES = 1 << 20
"""What may wait in a local socket: 10 ms of a COPY, so that the server has rows while its sender waits."""


def widen(descriptor: int) -> None:
    """Enlarge the send buffer of a connection through a local socket, which Linux keeps at 208 KiB.

    Buffers of TCP connections grow by themselves, and would stop to do so.

    :param descriptor: of the open socket; stays open, and its caller's.
    """
    with socket.socket(fileno=os.dup(descriptor)) as connection:
        if connection.family == socket.AF_UNIX:
            with suppress(OSError):  # costs speed alone
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BYTES)
