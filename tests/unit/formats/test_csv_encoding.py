"""Finding and changing the encoding of text files."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from airflow_provider_ingest.exceptions import FormatError
from airflow_provider_ingest.formats import read_table
from airflow_provider_ingest.formats.encoding import find_encoding, named_encoding, samples, transcode


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        (b"a,b\n1,2\n", "utf-8"),
        ("a,é\n".encode(), "utf-8"),
        ("a,é\n".encode("utf-8-sig"), "utf-8"),
        ("a,é\n".encode("utf-16"), "utf-16-le"),
        ("a,éß\n1,2\n".encode("utf-16-be"), "utf-16-be"),
        ("a,b\n".encode("utf-32"), "utf-32-le"),
        ("José;Köln\n".encode("latin-1"), "cp1252"),
        ("“quoted” – 5 €\n".encode("cp1252"), "cp1252"),
        ("名前,ひらがな,カタカナ\n".encode("shift_jis"), "cp932"),
        ("é\n".encode() * 20 + b"\xff\n", "utf-8"),
        (b"plain\n" * 50 + b"one \xe9t\xe9\n", "utf-8"),
        (b"1,\xc3\x28\n", "utf-8"),
    ],
)
def test_the_encoding_is_found_from_the_bytes(content: bytes, encoding: str) -> None:
    assert find_encoding(content)[0] == encoding


def test_names_alone_tell_an_encoding_since_no_row_would_say_that_they_were_misread(tmp_path: Path) -> None:
    path = tmp_path / "export.csv"
    path.write_bytes("Artikel;Größe;Preis in €\n".encode("cp1252") + b"A;1,5;3\n" * 1000)
    table = read_table(path)
    assert (table.columns, table.facts["encoding"]) == (("Artikel", "Größe", "Preis in €"), "cp1252")
    path.write_bytes("Artikel;Größe\n".encode() + "A;zwölf\n".encode() * 5 + "A;zwölf\n".encode("cp1252"))
    assert read_table(path).facts["encoding"] == "utf-8", "one row is broken"


def test_letters_far_down_the_file_count_for_its_encoding(tmp_path: Path) -> None:
    path = tmp_path / "late.csv"
    lines = [b"id,name"] + [b"%d,plain" % n for n in range(60_000)]
    path.write_bytes(b"\n".join([*lines, *["1,Müller".encode("cp1252")] * 5000]) + b"\n")
    with path.open("rb") as file:
        head, others = samples(file)
    assert head.isascii()
    assert find_encoding(head, others)[0] == "cp1252"


def test_what_the_encoding_does_not_allow_fails_its_row_alone(tmp_path: Path) -> None:
    path = tmp_path / "western.csv"
    path.write_bytes("id,name\n1,José\n2,Zoë\n".encode("cp1252") + b"3,\x81\n")
    table = read_table(path, encoding="cp1252")
    assert table.frame["name"].to_list() == ["José", "Zoë"]
    assert table.malformed["reason"].to_list() == ["not valid UTF-8"]


def test_a_copy_is_made_a_block_at_a_time_whatever_its_borders() -> None:
    text = "".join(chr(0x4E00 + n % 5000) for n in range(700_000))
    target = io.BytesIO()
    transcode(io.BytesIO(text.encode("utf-16")), target, "utf-16-le", 2)
    assert target.getvalue().decode() == text


def test_an_unknown_encoding_is_refused_by_name() -> None:
    with pytest.raises(FormatError, match="utf-77"):
        named_encoding("utf-77")
    with pytest.raises(FormatError, match="rot13"):
        named_encoding("rot13")


class Remote:
    """A path of an object storage, as far as a reader needs it."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.name = "remote.csv"

    def open(self, mode: str = "rb", **_: Any) -> BinaryIO:
        return io.BytesIO(self.content)

    def __str__(self) -> str:
        return "s3://bucket/remote.csv"


def test_a_path_object_of_any_storage_is_read() -> None:
    table = read_table(Remote(b"a;b\n1;2\n3;4\n"))
    assert table.frame.rows() == [(1, 2, "1", "2"), (2, 3, "3", "4")]
