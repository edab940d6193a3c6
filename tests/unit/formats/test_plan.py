"""Options that overrule what a file looks like."""

import gzip
import json
import zipfile

import polars as pl
import pytest

from airflow_provider_ingest.exceptions import FormatError, UnsupportedFile
from airflow_provider_ingest.formats.arrow import BATCH_BYTES, rebatch
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


def text_bytes(frame):
    return frame["a"].str.len_bytes().sum()


@pytest.mark.parametrize("long", [pl.Series(["x" * (1 << 20)]).gather([0] * 100), pl.Series(["x" * (1 << 20)] * 100)])
def test_batches_of_long_texts_are_small_and_none_is_empty(long):
    short = pl.Series(["y"] * 1000)
    frames = [pl.DataFrame({"a": texts}) for texts in (short, long, short)]
    batches = list(rebatch(frames, 700))
    assert pl.concat(batches)["a"].to_list() == [*short, *long, *short]
    assert max(text_bytes(batch) for batch in batches) <= BATCH_BYTES
    assert all(0 < batch.height <= 700 for batch in batches)
    assert [batch.height for batch in rebatch([pl.DataFrame({"a": ["x" * (BATCH_BYTES + 1)] * 2})], 700)] == [1, 1]
