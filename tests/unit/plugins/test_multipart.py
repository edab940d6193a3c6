from __future__ import annotations

import io
from collections.abc import Callable

import httpx
import pytest
import requests
from hypothesis import assume, given
from hypothesis import strategies as st

from airflow_provider_ingest.exceptions import InvalidParameter
from airflow_provider_ingest.plugins.api.multipart import MAX_FIELD, MAX_PARTS, MultipartForm

BOUNDARY = "x-boundary"
TYPE = f"multipart/form-data; boundary={BOUNDARY}"


class Sink:
    def __init__(self) -> None:
        self.name: str | None = None
        self.content = b""
        self.is_complete = False

    def open(self, name: str) -> None:
        self.name = name

    def write(self, block: bytes) -> None:
        self.content += block

    def close(self) -> None:
        self.is_complete = True


def part(name: str, content: bytes, filename: bytes | None = None) -> bytes:
    file = b"" if filename is None else b'; filename="' + filename + b'"'
    head = b'Content-Disposition: form-data; name="' + name.encode() + b'"' + file
    return f"--{BOUNDARY}\r\n".encode() + head + b"\r\n\r\n" + content + b"\r\n"


END = f"--{BOUNDARY}--\r\n".encode()


def parsed(body: bytes, *cuts: int) -> tuple[MultipartForm, Sink]:
    sink = Sink()
    form = MultipartForm(TYPE, sink, ("dry_run",))
    at = 0
    for cut in [*sorted(cuts), len(body)]:
        form.feed(body[at:cut])
        at = max(at, cut)
    form.finish()
    return form, sink


@given(st.binary(), st.lists(st.integers(0, 400), max_size=8), st.booleans())
def test_a_body_means_the_same_however_it_is_cut(content: bytes, cuts: list[int], flag_first: bool) -> None:
    content += f"\r\n--{BOUNDARY[:-1]}".encode() + content
    assume(f"\r\n--{BOUNDARY}".encode() not in content)  # a client takes another boundary then
    file, flag = part("file", content, b"a.csv"), part("dry_run", b"true")
    form, sink = parsed((flag + file if flag_first else file + flag) + END, *cuts)
    assert (sink.content, sink.name, sink.is_complete) == (content, "a.csv", True)
    assert form.fields == {"dry_run": "true"}


def test_a_field_that_stands_twice_is_refused_since_nobody_knows_which_counts() -> None:
    with pytest.raises(InvalidParameter, match="'dry_run' twice"):
        parsed(part("dry_run", b"1") + part("dry_run", b"0") + part("file", b"x", b"a.csv") + END)


def test_a_field_that_does_not_count_may_stand_twice_as_in_forms_of_browsers() -> None:
    form, _ = parsed(part("tag", b"a") + part("tag", b"b") + part("file", b"x", b"a.csv") + END)
    assert form.fields == {"tag": "b"}


@pytest.mark.parametrize(
    ("filename", "name"),
    [("März.csv".encode(), "März.csv"), (b"M\xe4rz.csv", "März.csv"), (b"", "")],
)
def test_file_names_are_utf_8_or_latin_1_or_empty(filename: bytes, name: str) -> None:
    assert parsed(part("file", b"x", filename) + END)[1].name == name


def test_an_old_clients_encoded_file_name_is_one_too() -> None:
    plain = part("file", b"x", b"a.csv") + END
    assert parsed(plain.replace(b'filename="a.csv"', b"filename*=utf-8''M%C3%A4rz.csv"))[1].name == "März.csv"


def test_a_text_named_like_the_file_is_no_file_and_the_answer_says_how_to_send_one() -> None:
    with pytest.raises(InvalidParameter, match="-F file=@path"):
        parsed(part("file", b"products.csv") + END)


def encoded_by_requests(content: bytes) -> tuple[bytes, str]:
    request = requests.Request("POST", "http://x/", files={"file": io.BytesIO(content)}).prepare()
    assert isinstance(request.body, bytes)
    return request.body, str(request.headers["Content-Type"])


def encoded_by_httpx(content: bytes) -> tuple[bytes, str]:
    request = httpx.Request("POST", "http://x/", files={"file": io.BytesIO(content)})
    return request.read(), request.headers["Content-Type"]


@pytest.mark.parametrize("encoded", [encoded_by_requests, encoded_by_httpx])
def test_a_file_that_a_client_has_no_name_for_is_a_file_still(encoded: Callable[..., tuple[bytes, str]]) -> None:
    body, content_type = encoded(b"sku")
    sink = Sink()
    form = MultipartForm(content_type, sink)
    form.feed(body)
    form.finish()
    assert (sink.content, sink.is_complete) == (b"sku", True)


@given(st.integers(0, 120))
def test_a_body_that_ends_early_is_refused(length: int) -> None:
    body = part("file", b"sku\nA1\n", b"a.csv") + END
    with pytest.raises(InvalidParameter):
        parsed(body[: min(length, len(body) - len(END))])


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"no form",
        part("other", b"x") + END,
        part("file", b"x") + END,
        part("file", b"x", b"a") * 2 + END,
        part("file", b"x", b"a") + part("dry_run", b"x" * (MAX_FIELD + 1)) + END,
        part("a", b"") * (MAX_PARTS + 1) + END,
    ],
)
def test_malformed_forms_are_refused(body: bytes) -> None:
    with pytest.raises(InvalidParameter):
        parsed(body)


@pytest.mark.parametrize(
    "content_type",
    [None, "", "application/json", "multipart/form-data", "multipart/form-data; boundary=" + "x" * 1000],
)
def test_a_request_that_is_no_form_is_refused(content_type: str | None) -> None:
    with pytest.raises(InvalidParameter):
        MultipartForm(content_type, Sink())


@pytest.mark.parametrize("name", ["*0*=utf-8''a; filename*=utf-8''b", "*=idna''%ff", "*=undefined''a", "*=\0''a"])
def test_a_file_name_that_cannot_be_decoded_is_refused(name: str) -> None:
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename{name}\r\n\r\nx\r\n'
    with pytest.raises(InvalidParameter, match="name"):
        parsed(head.encode() + END)
