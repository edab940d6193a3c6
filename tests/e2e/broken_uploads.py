"""Uploads that break off."""

from __future__ import annotations

import socket
from pathlib import Path

from tests.e2e.airflow_server import AirflowServer


def uploaded(airflow: AirflowServer) -> set[Path]:
    """The uploads that lie in staging."""
    return {path for folder in airflow.home.rglob("ingest-uploads") for path in folder.rglob("*") if path.is_file()}


def send_half_an_upload(server: AirflowServer, slug: str) -> socket.socket:
    """An upload that announces more than it sends; the connection stays open."""
    host, _, port = server.url.removeprefix("http://").partition(":")
    part = "--cut\r\nContent-Disposition: form-data; name=file; filename=half.csv\r\nContent-Type: text/csv\r\n\r\n"
    head = (
        f"POST /api/v1/ingest/upload/{slug} HTTP/1.1\r\nHost: {host}:{port}\r\n"
        f"Authorization: Bearer {server.token()}\r\n"
        "Content-Type: multipart/form-data; boundary=cut\r\nContent-Length: 50000000\r\n\r\n"
    )
    connection = socket.create_connection((host, int(port)))
    connection.sendall((head + part + "sku,name,category,price\n" + "U-1,x,Toys,1\n" * 200_000).encode())
    return connection
