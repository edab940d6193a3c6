"""What the demo says to the REST API: what any client would."""

from __future__ import annotations

import csv
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx

OPEN = ("pending", "processing", "cancelling")
KNOWN_SECONDS = 90


class Client:
    """A client with a bearer token.

    :param url: of Airflow's API server.
    """

    def __init__(self, url: str, user: str, password: str) -> None:
        self._http = httpx.Client(base_url=url, timeout=60)
        answer = self._http.post("/auth/token", json={"username": user, "password": password})
        self.token: str = answer.raise_for_status().json()["access_token"]
        self._http.headers["Authorization"] = f"Bearer {self.token}"

    def wait_for_importer(self, slug: str) -> None:
        """Until Airflow has read the importer's DAG file."""
        deadline = time.monotonic() + KNOWN_SECONDS
        while (answer := self._http.get(f"/api/v1/ingest/importers/{slug}")).status_code == 404:
            if time.monotonic() > deadline:
                break
            time.sleep(0.2)
        answer.raise_for_status()

    def upload(self, slug: str, path: Path) -> dict[str, Any]:
        """Upload a file; the new run."""
        with path.open("rb") as file:
            answer = self._http.post(f"/api/v1/ingest/upload/{slug}", files={"file": (path.name, file, "text/csv")})
        return dict(answer.raise_for_status().json()["data"])

    def show(self, run_id: int, rows: int = 1) -> dict[str, Any]:
        """A run with its first logged rows."""
        query = {"rows_status": "failed", "rows_per_page": rows}
        return dict(self._http.get(f"/api/v1/ingest/{run_id}", params=query).raise_for_status().json()["data"])

    def follow(self, run_id: int) -> Iterator[dict[str, Any]]:
        """The run again and again, until it has ended."""
        while True:
            with suppress(httpx.TimeoutException):  # a busy machine; the run goes on
                run = self.show(run_id)
                yield run
                if run["status"] not in OPEN:
                    return
            time.sleep(0.3)

    def errors(self, run_id: int) -> dict[str, Any]:
        """The error summary."""
        return dict(self._http.get(f"/api/v1/ingest/{run_id}/errors/summary").raise_for_status().json()["data"])

    def failed_row_numbers(self, run_id: int) -> list[int]:
        """The row numbers in the failed-rows download."""
        with self._http.stream("GET", f"/api/v1/ingest/{run_id}/failed-rows/download") as answer:
            answer.raise_for_status()
            text = answer.read().decode("utf-8-sig")
        return [int(row["_row_number"]) for row in csv.DictReader(text.splitlines(keepends=True))]
