"""The send buffer of a connection through a local socket, on real sockets."""

from __future__ import annotations

import socket

from airflow_provider_ingest.postgres.local_socket import widen


def send_buffer(connection: socket.socket) -> int:
    return connection.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)


def test_a_local_socket_gets_a_larger_buffer_and_stays_open() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX)
    with ours, theirs:
        before = send_buffer(ours)
        widen(ours.fileno())
        assert send_buffer(ours) > before
        ours.sendall(b"still here")
        assert theirs.recv(10) == b"still here"


def test_a_tcp_connection_is_left_to_the_system() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as ours:
        before = send_buffer(ours)
        widen(ours.fileno())
        assert send_buffer(ours) == before
