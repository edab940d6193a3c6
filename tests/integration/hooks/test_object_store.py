"""Disks and staging in an object store, against an S3 server."""

from __future__ import annotations

import hashlib
import json
import socket
from datetime import UTC, datetime, timedelta

import boto3
import pytest
import sqlalchemy as sa
from moto.server import ThreadedMotoServer

from airflow_provider_ingest import IngestConfig
from airflow_provider_ingest.engine.plan import compile_plan
from airflow_provider_ingest.exceptions import SourceError, UploadTooLarge
from airflow_provider_ingest.formats import plan_file, read_chunk
from airflow_provider_ingest.hooks.filesystem import FilesystemHook
from airflow_provider_ingest.importers.source import SourceSpec, SourceType
from airflow_provider_ingest.operators.contested import batches_of, set_contested_apart
from airflow_provider_ingest.storage.files import Staging
from airflow_provider_ingest.targets import open_target

CONTENT = b"sku,name\n" + b"A-1,Lamp\n" * 300_000


@pytest.fixture(scope="module")
def endpoint():
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture(scope="module", autouse=True)
def connection(endpoint):
    """One connection for the module: Airflow keeps the file system of a connection for the life of a process."""
    extra = {"endpoint_url": endpoint, "region_name": "us-east-1"}
    fields = {"conn_type": "aws", "login": "key", "password": "secret", "extra": extra}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AIRFLOW_CONN_SHOP_S3", json.dumps(fields))
        client = boto3.client(
            "s3",
            endpoint_url=endpoint,
            aws_access_key_id="key",
            aws_secret_access_key="secret",
            region_name="us-east-1",
        )
        client.create_bucket(Bucket="shop")
        client.put_object(Bucket="shop", Key="incoming/products.csv", Body=CONTENT)
        client.put_object(Bucket="shop", Key="secret.csv", Body=b"secret")
        yield


def test_an_object_below_the_root_is_read_whole(fetch):
    got = fetch(FilesystemHook("products.csv", "shop_s3:shop/incoming"))
    assert (got.name, got.content) == ("products.csv", CONTENT)


@pytest.mark.parametrize(
    ("path", "disk", "message"),
    [
        ("missing.csv", "shop_s3:shop/incoming", "is not there"),
        ("../secret.csv", "shop_s3:shop/incoming", "'..' is not allowed"),
        ("*.csv", "shop_s3:shop/incoming", "is a pattern"),
        ("products.csv", "shop_s3", "has no root"),
        ("products.csv", "shop_s3:elsewhere/incoming", "is not there"),
        ("", "shop_s3:shop/incoming", "names no file"),
    ],
)
def test_what_is_no_object_of_the_disk_is_refused(fetch, path, disk, message):
    with pytest.raises(SourceError, match=message):
        fetch(FilesystemHook(path, disk))


def put(endpoint, key, body):
    client = boto3.client(
        "s3",
        endpoint_url=endpoint,
        aws_access_key_id="key",
        aws_secret_access_key="secret",
        region_name="us-east-1",
    )
    client.put_object(Bucket="shop", Key=key, Body=body)


def test_an_object_that_is_replaced_meanwhile_is_refused(endpoint):
    put(endpoint, "incoming/changing.csv", CONTENT * 8)
    with FilesystemHook("changing.csv", "shop_s3:shop/incoming").open() as stream:
        next(stream.blocks)
        put(endpoint, "incoming/changing.csv", CONTENT[::-1] * 8)
        with pytest.raises(SourceError, match="was changed while it was read") as caught:
            list(stream.blocks)
    assert caught.value.retryable


def test_a_run_keeps_the_version_that_it_staged_first(endpoint, stays_pinned):
    put(endpoint, "incoming/versions.csv", b"a\n1\n")
    options = {"disk": "shop_s3:shop/incoming", "path": "versions.csv"}
    source = SourceSpec(type=SourceType.FILESYSTEM, options=options)
    stays_pinned(source, lambda: put(endpoint, "incoming/versions.csv", b"a\n22\n"))


def test_the_connection_test_says_whether_the_object_can_be_read():
    hook = FilesystemHook("products.csv", "shop_s3:shop/incoming")
    assert hook.test_connection() == (True, "products.csv can be read.")
    is_good, why = FilesystemHook("missing.csv", "shop_s3:shop/incoming").test_connection()
    assert not is_good
    assert "is not there" in why


def test_a_store_that_is_not_there_is_worth_another_try(fetch, connect):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        extra = {
            "endpoint_url": f"http://127.0.0.1:{unused.getsockname()[1]}",
            "region_name": "us-east-1",
            "config_kwargs": {"retries": {"total_max_attempts": 1}},
        }
        connect("gone_s3", conn_type="aws", login="key", password="secret", extra=extra)
        with pytest.raises(SourceError, match="cannot be reached") as caught:
            fetch(FilesystemHook("a.csv", "gone_s3:shop"))
    assert caught.value.retryable


@pytest.fixture
def staging():
    return Staging("s3://shop_s3@shop/ingest")


def receive(staging, *blocks, max_bytes=10**8):
    with staging.receive("märz.csv", max_bytes=max_bytes) as upload:
        for block in blocks:
            upload.write(block)
    return upload.stored


def test_an_upload_into_the_bucket_is_whole_and_can_be_removed(staging):
    stored = receive(staging, CONTENT[:1000], CONTENT[1000:])
    assert stored.sha256 == hashlib.sha256(CONTENT).hexdigest()
    assert staging.has(stored.reference, len(CONTENT))
    assert b"".join(staging.blocks(stored.reference)) == CONTENT
    staging.remove(stored.reference)
    assert not staging.has(stored.reference)


def test_a_refused_upload_leaves_nothing_in_the_bucket(staging):
    with pytest.raises(UploadTooLarge):
        receive(staging, b"1234", b"56", max_bytes=5)
    assert not [path for path in staging.root.rglob("*") if path.is_file()]


def test_a_staged_file_is_planned_and_its_chunks_are_read_where_it_lies(staging):
    stored = receive(staging, CONTENT)
    scratch = staging.directory(staging.temp("run", "chunks"))
    plan = plan_file(staging.path(stored.reference), options={}, chunk_rows=100_000, scratch=scratch)
    assert plan.rows == 300_000
    chunk = plan.chunks[-1]
    located = type(chunk)(
        index=chunk.index,
        first_row=chunk.first_row,
        rows=chunk.rows,
        location={**chunk.location, "path": staging.locate(json.loads(json.dumps(chunk.location))["path"])},
    )
    assert sum(batch.rows for batch in read_chunk(plan.reader, located)) == chunk.rows
    staging.remove(stored.reference)


def test_keys_that_chunks_share_are_found_where_the_file_lies(staging, sqlite_url):
    engine = sa.create_engine(sqlite_url)
    with engine.begin() as database:
        database.exec_driver_sql("CREATE TABLE lamps (sku TEXT PRIMARY KEY, name TEXT)")
    engine.dispose()
    config = IngestConfig.for_("lamps", conn_id="shop").map("sku", "sku").map("name", "name").keyed_by("sku")
    stored = receive(staging, CONTENT[:900])
    scratch = staging.directory(staging.temp("shared", "chunks"))
    plan = plan_file(staging.path(stored.reference), options={}, chunk_rows=50, scratch=scratch)
    compiled = compile_plan(config, open_target(sqlite_url, config).shape())
    chunks = set_contested_apart(config, compiled, plan, staging, staging.temp("shared", "keys"))
    assert len(plan.chunks) == 2
    assert [chunk.rows for chunk in chunks] == [0, 0, plan.rows]
    assert sum(batch.rows for batch in batches_of(plan.reader, chunks[-1], staging)) == plan.rows
    staging.remove(stored.reference)
    staging.remove_run("shared")


def test_temporary_files_and_expired_ones_go(staging):
    for reference in (staging.temp("one", "a"), staging.temp("two", "b", "c")):
        with staging.create(reference) as file:
            file.write(b"x")
    staging.remove_run("one")
    assert not staging.has(staging.temp("one", "a"))
    later = datetime.now(UTC) + timedelta(hours=1)
    assert staging.prune(later, keep=["two"]) == []
    assert [file.reference for file in staging.prune(later)] == [staging.temp("two", "b", "c")]
    assert not staging.has(staging.temp("two", "b", "c"))
