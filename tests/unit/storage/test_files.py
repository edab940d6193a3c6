"""Staging: names that clients send, uploads that break off, and what pruning leaves alone."""

from __future__ import annotations

import hashlib
import os
import time
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_provider_ingest.exceptions import SetupError, SourceError, UploadTooLarge
from airflow_provider_ingest.storage.files import Staging, safe_name


@pytest.fixture
def staging(tmp_path):
    return Staging(f"file://{tmp_path / 'ingest'}")


@given(st.text(max_size=400))
def test_any_name_becomes_one_that_a_file_system_takes(name):
    safe = safe_name(name)
    assert safe not in ("", ".", "..")
    assert not set(safe) & set("/\\\0\n\r")
    assert len(safe.encode()) <= 255
    assert safe_name(safe) == safe


@pytest.mark.parametrize(
    ("sent", "safe"),
    [
        ("products.csv", "products.csv"),
        ("C:\\data\\März 2026.csv", "März 2026.csv"),
        ("../../etc/passwd", "passwd"),
        ("a/b/.csv", "csv"),
        (None, "file"),
        ("x" * 300 + ".csv", "x" * 147 + ".csv"),
        ("日本語.xlsx", "日本語.xlsx"),
        ("a<b>:c|d?.csv", "a_b__c_d_.csv"),
    ],
)
def test_a_safe_name_still_tells_what_it_was(sent, safe):
    assert safe_name(sent) == safe


def test_an_upload_is_kept_whole_with_size_and_checksum(staging):
    with staging.receive("märz.csv", max_bytes=100) as upload:
        upload.write(b"a,b\n")
        upload.write(b"1,2\n")
    stored = upload.stored
    assert (stored.name, stored.size, stored.sha256) == ("märz.csv", 8, hashlib.sha256(b"a,b\n1,2\n").hexdigest())
    assert b"".join(staging.blocks(stored.reference)) == b"a,b\n1,2\n"


def test_two_uploads_of_one_name_do_not_meet(staging):
    with staging.receive("a.csv", max_bytes=9) as first, staging.receive("a.csv", max_bytes=9) as second:
        first.write(b"1")
        second.write(b"2")
    assert first.stored.reference != second.stored.reference
    assert b"".join(staging.blocks(first.stored.reference)) == b"1"


def receive(staging, blocks, max_bytes=5):
    with staging.receive("a.csv", max_bytes=max_bytes) as upload:
        for block in blocks:
            upload.write(block)


def cut_body():
    yield b"1"
    raise ConnectionError


def test_an_upload_that_is_too_large_or_breaks_off_leaves_nothing_behind(staging):
    with pytest.raises(UploadTooLarge, match="larger than the 5 bytes"):
        receive(staging, [b"1234", b"56"])
    with pytest.raises(ConnectionError):
        receive(staging, cut_body())
    assert list((staging.root / "ingest-uploads").iterdir()) == []


@pytest.mark.parametrize(
    "reference",
    ["", "a", "ingest-uploads", "ingest-uploads/../x", "/etc/passwd", "ingest-temp//x", "other/x", "ingest-temp/./x"],
)
def test_a_reference_never_leads_out_of_the_storage(staging, reference):
    with pytest.raises(SourceError, match="no reference"):
        staging.path(reference)


def make(staging, reference, age_hours):
    with staging.create(reference) as file:
        file.write(b"x")
    then = time.time() - age_hours * 3600
    os.utime(staging.path(reference), (then, then))
    os.utime(staging.path(reference).parent, (then, then))


def test_pruning_removes_what_has_expired_and_spares_open_runs_and_new_files(staging):
    make(staging, "ingest-uploads/old/a.csv", 30)
    make(staging, "ingest-uploads/new/a.csv", 1)
    make(staging, "ingest-uploads/open/a.csv", 30)
    make(staging, "ingest-temp/gone/chunks/1.arrow", 30)
    make(staging, "ingest-temp/run/chunks/1.arrow", 30)
    before = datetime.now(UTC) - timedelta(hours=24)
    keep = ["ingest-uploads/open/a.csv", "run"]
    would = staging.prune(before, keep=keep, dry_run=True)
    assert sorted(file.reference for file in would) == ["ingest-temp/gone/chunks/1.arrow", "ingest-uploads/old/a.csv"]
    assert staging.has("ingest-uploads/old/a.csv")
    assert staging.prune(before, keep=keep) == would
    left = sorted(str(path.relative_to(staging.root)) for path in staging.root.rglob("*") if path.is_file())
    assert left == ["ingest-temp/run/chunks/1.arrow", "ingest-uploads/new/a.csv", "ingest-uploads/open/a.csv"]
    assert staging.prune(before, keep=keep) == []


def test_the_temporary_files_of_one_run_go_together(staging):
    make(staging, "ingest-temp/one/a", 0)
    make(staging, "ingest-temp/two/a", 0)
    staging.remove_run("one")
    staging.remove_run("one")
    assert not staging.has("ingest-temp/one/a")
    assert staging.has("ingest-temp/two/a", size=1)
    assert not staging.has("ingest-temp/two/a", size=2)


def test_a_storage_that_cannot_be_written_says_which_setting_to_mend(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(SetupError, match="storage_path"):
        Staging(str(tmp_path / "file")).check()
    Staging(str(tmp_path / "fine")).check()
