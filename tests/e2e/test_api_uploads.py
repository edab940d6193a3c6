"""Uploads on a real server: streamed, capped, cut off, odd."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tests.e2e.airflow_server import AirflowServer
from tests.e2e.rest import API, GOOD, HEADER, problem

CAP = 3_000_000
BOUNDARY = "----boundary"


@pytest.fixture
def staged(airflow: AirflowServer) -> Path:
    """The uploads' directory."""
    uploads = airflow.home / "ingest" / "ingest-uploads"
    uploads.mkdir(parents=True, exist_ok=True)
    return uploads


def files(directory: Path) -> set[Path]:
    return {path for path in directory.rglob("*") if path.is_file()}


def part(name: str, content: str, filename: str | None = None) -> str:
    file = f'; filename="{filename}"' if filename is not None else ""
    return f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"{file}\r\n\r\n{content}\r\n'


def send(airflow: AirflowServer, body: str | bytes | Iterator[bytes]) -> httpx.Response:
    headers = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
    return airflow.post(f"{API}/upload/products", content=body, headers=headers)


@pytest.mark.parametrize("value", ["1", "true", "TRUE", "0", "False"])
def test_dry_run_may_come_before_the_file_or_after_it(airflow: AirflowServer, value: str) -> None:
    file, flag = part("file", HEADER + GOOD, "a.csv"), part("dry_run", value)
    for body in (file + flag, flag + file):
        answer = send(airflow, f"{body}--{BOUNDARY}--\r\n")
        assert answer.status_code == 202, answer.text
        assert answer.json()["data"]["is_dry_run"] is (value.lower() in ("1", "true"))
        airflow.post(f"{API}/{answer.json()['data']['id']}/cancel")


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("Preisliste März 2026.csv", "Preisliste März 2026.csv"),
        ("../../etc/passwd", "passwd"),
        ("C:\\data\\a.csv", "a.csv"),
        ("x" * 300 + ".csv", "x" * 251 + ".csv"),
        ("", "file"),
        ("a\u202eb\u0007.csv", "ab.csv"),
    ],
)
def test_any_file_name_is_taken_and_none_leads_out_of_the_storage(
    airflow: AirflowServer, staged: Path, sent: str, kept: str
) -> None:
    before = files(staged)
    body = part("file", HEADER + GOOD, sent) + part("dry_run", "1") + f"--{BOUNDARY}--\r\n"
    answer = send(airflow, body.encode())
    assert answer.status_code == 202, answer.text
    assert answer.json()["data"]["original_filename"] == kept
    assert len(files(staged) - before) == 1
    airflow.post(f"{API}/{answer.json()['data']['id']}/cancel")


def test_the_same_name_several_times_at_once_gives_a_file_each(airflow: AirflowServer, staged: Path) -> None:
    before = files(staged)
    body = part("file", HEADER + GOOD, "same.csv") + part("dry_run", "1") + f"--{BOUNDARY}--\r\n"
    all_have_begun = threading.Barrier(4)

    def slowly() -> Iterator[bytes]:
        yield body[:100].encode()
        all_have_begun.wait(30)
        yield body[100:].encode()

    airflow.token()
    with ThreadPoolExecutor(4) as clients:
        answers = list(clients.map(lambda _: send(airflow, slowly()), range(4)))
    assert [answer.status_code for answer in answers] == [202] * 4
    runs = [answer.json()["data"] for answer in answers]
    assert len({run["id"] for run in runs}) == 4
    assert {path.name for path in files(staged) - before} == {"same.csv"}
    assert len(files(staged) - before) == 4
    for run in runs:
        airflow.post(f"{API}/{run['id']}/cancel")


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (part("file", HEADER, "a.csv") + part("dry_run", "maybe") + f"--{BOUNDARY}--\r\n", 422, "invalid_parameter"),
        (part("other", "x") + f"--{BOUNDARY}--\r\n", 422, "invalid_parameter"),
        (part("file", "products.csv") + f"--{BOUNDARY}--\r\n", 422, "invalid_parameter"),
        (part("file", HEADER, "a.csv") + part("dryRun", "1") + f"--{BOUNDARY}--\r\n", 422, "invalid_parameter"),
        (part("file", HEADER, "a.csv") * 2 + f"--{BOUNDARY}--\r\n", 422, "invalid_parameter"),
        (part("file", HEADER, "a.csv"), 422, "invalid_parameter"),
        ("nothing of a form", 422, "invalid_parameter"),
        ("", 422, "invalid_parameter"),
        (part("file", "", "a.csv") + f"--{BOUNDARY}--\r\n", 415, "unsupported_file"),
        (part("file", "%PDF-1.7 lies", "a.csv") + f"--{BOUNDARY}--\r\n", 415, "unsupported_file"),
    ],
)
def test_a_refused_upload_leaves_nothing_behind(
    airflow: AirflowServer, staged: Path, body: str, status: int, code: str
) -> None:
    before = files(staged)
    problem(send(airflow, body), status, code)
    assert files(staged) == before


def test_a_body_that_is_no_form_is_refused(airflow: AirflowServer) -> None:
    problem(airflow.post(f"{API}/upload/products", json={"file": "x"}), 422, "invalid_parameter")


def test_a_file_above_the_cap_is_refused_whether_it_says_so_or_not(capped: AirflowServer) -> None:
    content = (HEADER + GOOD * (2 * CAP // len(GOOD))).encode()

    def blocks() -> Iterator[bytes]:
        yield part("file", "", "a.csv").encode().removesuffix(b"\r\n")
        yield from (content[at : at + 65536] for at in range(0, len(content), 65536))
        yield f"\r\n--{BOUNDARY}--\r\n".encode()

    problem(send(capped, blocks()), 413, "upload_too_large")
    answer = capped.post(f"{API}/upload/products", files={"file": ("a.csv", content)})
    problem(answer, 413, "upload_too_large")
    assert not files(capped.home / "ingest")


@pytest.fixture(scope="module")
def capped(airflow: AirflowServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AirflowServer]:
    """A second API server over the same metadata database, with a low cap and a storage of its own."""
    from tests.e2e.second_server import second_api_server

    home = tmp_path_factory.mktemp("capped")
    settings = {
        "AIRFLOW__INGEST__MAX_UPLOAD_BYTES": str(CAP),
        "AIRFLOW__INGEST__STORAGE_PATH": str(home / "ingest"),
    }
    with second_api_server(airflow, home, **settings) as server:
        yield server


def test_a_cut_upload_leaves_nothing_behind(airflow: AirflowServer, staged: Path) -> None:
    before = files(staged)
    address = urlsplit(airflow.url)
    with socket.create_connection((str(address.hostname), int(address.port or 80))) as connection:
        head = (
            f"POST {API}/upload/products HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Length: 30000000\r\n"
            f"Authorization: Bearer {airflow.token()}\r\nContent-Type: multipart/form-data; boundary={BOUNDARY}\r\n\r\n"
        )
        connection.sendall(head.encode() + part("file", HEADER + GOOD * 100_000, "a.csv").encode())
        deadline = time.monotonic() + 20
        while files(staged) == before and time.monotonic() < deadline:
            time.sleep(0.05)
        assert files(staged) != before, "the file is being written while it arrives"
    deadline = time.monotonic() + 20
    while files(staged) != before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert files(staged) == before


def test_the_tables_or_storage_out_of_reach_are_503(airflow: AirflowServer, tmp_path: Path) -> None:
    from tests.e2e.second_server import second_api_server

    in_the_way = tmp_path / "file"
    in_the_way.write_text("a file where a directory should be")
    settings = {"AIRFLOW__INGEST__STORAGE_PATH": str(in_the_way / "ingest")}
    with second_api_server(airflow, tmp_path, **settings) as server:
        answer = server.post(f"{API}/upload/products", files={"file": ("a.csv", HEADER + GOOD)})
        body = problem(answer, 503, "not_available")
        assert str(tmp_path) not in str(body)
        with contextlib.suppress(KeyError):
            assert int(answer.headers["retry-after"]) > 0
