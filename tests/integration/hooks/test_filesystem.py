"""FILESYSTEM and JSON sources on a local disk: what is read, and what is refused."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from airflow_provider_ingest.exceptions import FormatError, SourceError
from airflow_provider_ingest.hooks import base, filesystem
from airflow_provider_ingest.hooks.filesystem import FilesystemHook
from airflow_provider_ingest.hooks.json_file import JsonFileHook
from airflow_provider_ingest.hooks.upload import UploadHook
from airflow_provider_ingest.importers.source import SourceSpec, SourceType

CONTENT = b"sku,name\nA-1,Lamp\n"


@pytest.fixture
def disk(tmp_path, connect):
    root = tmp_path / "disk"
    (root / "incoming").mkdir(parents=True)
    (root / "incoming" / "products.csv").write_bytes(CONTENT)
    (root / "around.csv").symlink_to("around.csv")
    os.mkfifo(root / "pipe.csv")
    (tmp_path / "secret.csv").write_text("secret")
    return connect("files", conn_type="fs", extra={"path": str(root)})


def test_a_file_is_read_whole_with_its_checksum(disk, fetch):
    got = fetch(FilesystemHook("incoming/products.csv", disk))
    assert (got.name, got.content) == ("products.csv", CONTENT)
    assert got.sha256 == hashlib.sha256(CONTENT).hexdigest()


def test_a_root_after_the_disk_narrows_it(disk, fetch):
    assert fetch(FilesystemHook("products.csv", f"{disk}:incoming")).content == CONTENT
    with pytest.raises(SourceError, match="is not allowed"):
        fetch(FilesystemHook("../../secret.csv", f"{disk}:incoming"))


def test_a_full_path_below_the_root_is_read(disk, fetch, tmp_path):
    assert fetch(FilesystemHook(str(tmp_path / "disk/incoming/products.csv"), disk)).content == CONTENT


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("../secret.csv", "'..' is not allowed"),
        ("incoming/../../secret.csv", "'..' is not allowed"),
        ("/etc/passwd", "lies outside"),
        ("incoming/*.csv", "is a pattern; a run reads one file"),
        ("incoming/products[12].csv", "is a pattern"),
        ("missing.csv", "is not there"),
        ("incoming", "is no ordinary file"),
        ("incoming/", "names no file"),
        ("", "names no file"),
        ("a\nb.csv", "control characters"),
        ("a\0b.csv", "control characters"),
        ("a\ud800.csv", "no valid text"),
        ("x" * 300 + ".csv", "is not there"),
        ("a/" * 3_000 + "b.csv", "longer than 4,096 bytes"),
        ("around.csv", "is not there"),
        ("pipe.csv", "is no ordinary file"),
        ("incoming/products.csv/x", "is not there"),
    ],
)
def test_a_path_that_names_no_file_of_the_disk_is_refused(disk, fetch, path, message):
    with pytest.raises(SourceError, match=message):
        fetch(FilesystemHook(path, disk))


def test_a_symbolic_link_out_of_the_root_is_refused(disk, fetch, tmp_path):
    (tmp_path / "disk" / "link.csv").symlink_to(tmp_path / "secret.csv")
    with pytest.raises(SourceError, match="lies outside"):
        fetch(FilesystemHook("link.csv", disk))


def test_a_symbolic_link_within_the_root_is_read(disk, fetch, tmp_path):
    (tmp_path / "disk" / "link.csv").symlink_to(tmp_path / "disk/incoming/products.csv")
    assert fetch(FilesystemHook("link.csv", disk)).content == CONTENT


def test_without_a_disk_only_allowed_directories_are_read(fetch, tmp_path):
    (tmp_path / "open").mkdir()
    (tmp_path / "open" / "a.csv").write_bytes(CONTENT)
    (tmp_path / "b.csv").write_bytes(CONTENT)
    allowed = (str(tmp_path / "open"),)
    assert fetch(FilesystemHook(str(tmp_path / "open/a.csv"), None, allowed)).content == CONTENT
    with pytest.raises(SourceError, match="allowed_paths"):
        fetch(FilesystemHook(str(tmp_path / "b.csv"), None, allowed))
    with pytest.raises(SourceError, match="need a disk"):
        fetch(FilesystemHook(str(tmp_path / "b.csv")))


def test_a_disk_that_is_not_there_is_named(fetch):
    with pytest.raises(SourceError, match="'nowhere' is not there: create an Airflow connection"):
        fetch(FilesystemHook("a.csv", "nowhere"))


def test_a_connection_of_another_kind_is_no_disk(fetch, connect):
    connect("shop", conn_type="sqlite", host="x")
    with pytest.raises(SourceError, match="a disk is one of fs, ftp, sftp"):
        fetch(FilesystemHook("a.csv", "shop"))


def test_a_file_above_the_limit_is_refused(disk, fetch):
    with pytest.raises(SourceError, match="max_source_bytes"):
        fetch(FilesystemHook("incoming/products.csv", disk), max_bytes=5)


def test_a_file_that_is_written_meanwhile_is_refused(disk, tmp_path):
    path = tmp_path / "disk/incoming/products.csv"
    with FilesystemHook("incoming/products.csv", disk).open() as stream:
        next(stream.blocks)
        with path.open("ab") as file:
            file.write(b"A-2,Chair\n")
        with pytest.raises(SourceError, match="was changed while it was read") as caught:
            list(stream.blocks)
    assert caught.value.retryable


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_the_right_to_read_is_named(disk, fetch, tmp_path):
    path = tmp_path / "disk/incoming/products.csv"
    path.chmod(0)
    with pytest.raises(SourceError, match="may not be read"):
        fetch(FilesystemHook("incoming/products.csv", disk))


def test_the_connection_test_says_what_hinders(disk):
    assert FilesystemHook("incoming/products.csv", disk).test_connection() == (True, "products.csv can be read.")
    is_good, message = FilesystemHook("missing.csv", disk).test_connection()
    assert not is_good
    assert "is not there" in message


def test_a_file_that_becomes_a_link_between_the_look_and_the_opening_is_refused(disk, fetch, tmp_path, monkeypatch):
    path = tmp_path / "disk/incoming/products.csv"
    real = filesystem.local_path

    def swapped(*given):
        found = real(*given)
        path.unlink()
        path.symlink_to(tmp_path / "secret.csv")
        return found

    monkeypatch.setattr(filesystem, "local_path", swapped)
    with pytest.raises(SourceError, match="was changed"):
        fetch(FilesystemHook("incoming/products.csv", disk))


def test_a_long_transfer_tells_how_far_it_is(disk, fetch, monkeypatch, caplog):
    monkeypatch.setattr(base, "PROGRESS_SECONDS", -1.0)
    with caplog.at_level("INFO"):
        fetch(FilesystemHook("incoming/products.csv", disk))
    assert f"Fetched {len(CONTENT)} bytes so far" in caplog.text


def test_the_largest_file_is_a_setting(disk, staged_run, monkeypatch):
    monkeypatch.setenv("AIRFLOW__INGEST__MAX_SOURCE_BYTES", "5")
    run = staged_run(source(disk))
    with pytest.raises(SourceError, match="larger than the 5 bytes") as caught:
        run.stage()
    assert not caught.value.retryable


def test_an_upload_can_be_tested_as_well(tmp_path):
    (tmp_path / "a.csv").write_bytes(CONTENT)
    assert UploadHook(tmp_path / "a.csv", "a.csv").test_connection() == (True, "a.csv can be read.")
    is_good, why = UploadHook(tmp_path / "b.csv", "b.csv").test_connection()
    assert not is_good
    assert "upload it again" in why


def test_a_json_array_is_read(disk, fetch, tmp_path):
    (tmp_path / "disk" / "a.json").write_bytes(b"\xef\xbb\xbf \n[{}]")
    assert fetch(JsonFileHook("a.json", disk)).content == b"\xef\xbb\xbf \n[{}]"


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b'{"rows": []}', "one object"),
        (b'"x"', "a text"),
        (b"<xml/>", "markup"),
        (b" ", "an empty file"),
        (b"1", "something"),
    ],
)
def test_json_that_is_no_array_is_refused_with_what_was_found(disk, fetch, tmp_path: Path, content, found):
    (tmp_path / "disk" / "a.json").write_bytes(content)
    with pytest.raises(FormatError, match=f"found {found}"):
        fetch(JsonFileHook("a.json", disk))
    is_good, why = JsonFileHook("a.json", disk).test_connection()
    assert not is_good
    assert f"found {found}" in why


def source(disk, path="incoming/products.csv"):
    return SourceSpec(type=SourceType.FILESYSTEM, options={"disk": disk, "path": path})


def test_a_run_keeps_the_version_that_it_staged_first(disk, stays_pinned, tmp_path):
    stays_pinned(source(disk), lambda: (tmp_path / "disk/incoming/products.csv").write_bytes(CONTENT[:-2] + b"X\n"))


def test_a_staged_file_that_was_altered_is_fetched_again(disk, staged_run):
    run = staged_run(source(disk))
    facts = run.stage()
    with run.staging.create(facts["reference"]) as file:
        file.write(CONTENT[:-2] + b"X\n")
    assert run.stage() == facts
    assert run.content == CONTENT


def test_a_try_after_a_cut_transfer_takes_one_version_whole(disk, staged_run, tmp_path):
    path = tmp_path / "disk/incoming/products.csv"
    path.unlink()
    run = staged_run(source(disk))
    with pytest.raises(SourceError, match="is not there"):
        run.stage()
    path.write_bytes(CONTENT)
    assert run.stage()["sha256"] == hashlib.sha256(CONTENT).hexdigest()


def test_an_upload_that_is_not_what_the_client_sent_is_refused(staged_run):
    sent = hashlib.sha256(CONTENT).hexdigest()
    run = staged_run(SourceSpec(type=SourceType.UPLOAD), payload="ingest-uploads/u/a.csv", options={"sha256": sent})
    with run.staging.create("ingest-uploads/u/a.csv") as file:
        file.write(CONTENT)
    assert run.stage()["sha256"] == sent
    with run.staging.create("ingest-uploads/u/a.csv") as file:
        file.write(CONTENT + b"A-9,more\n")
    with pytest.raises(SourceError, match="another version"):
        run.stage()
