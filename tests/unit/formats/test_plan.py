"""Options that overrule what a file looks like."""

import gzip
import json
import zipfile

import pytest

from airflow_provider_ingest.exceptions import FormatError, UnsupportedFile
from tests.unit.formats.tables import read_bytes


def test_a_named_format_overrules_the_content_also_inside_a_compressed_file():
    text = b'{"a": 1}\n'
    assert read_bytes(text).plan.facts["format"] == "ndjson"
    for data in (text, gzip.compress(text)):
        assert read_bytes(data, format="csv", has_header=True).plan.facts["format"] == "csv"
        with pytest.raises(FormatError, match="found an object with the keys"):
            read_bytes(data, format="json")


def test_an_unknown_format_is_refused_with_the_known_ones():
    with pytest.raises(FormatError, match="known are csv, xlsx, json, ndjson, parquet, arrow"):
        read_bytes(b"a", format="excel")


def test_a_named_encoding_makes_it_text():
    data = "a,b\n1,2\n".encode("utf-16-le")
    assert read_bytes(data, encoding="utf-16-le").rows == [{"a": "1", "b": "2"}]


def test_a_file_that_is_no_table_is_refused(tmp_path):
    with pytest.raises(UnsupportedFile, match="a PDF document"):
        read_bytes(b"%PDF-1.7 ...")


def test_the_plan_is_plain_json_but_for_its_kinds(tmp_path):
    path = tmp_path / "in.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("rows.json", b'[{"a": 1}]')
    plan = read_bytes(path.read_bytes()).plan
    assert json.loads(json.dumps([plan.reader, plan.facts, [chunk.location for chunk in plan.chunks]]))
    assert plan.facts == {"format": "json", "compression": "zip"}
