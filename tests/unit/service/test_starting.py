from __future__ import annotations

import threading

import pytest

from airflow_provider_ingest.exceptions import (
    Conflict,
    ImporterNotFound,
    InvalidParameter,
    PayloadRequired,
    TooManyStarts,
)
from tests.unit.service.world import ANNA, BERT, World, upload


@pytest.fixture
def world() -> World:
    return World()


def test_an_upload_is_recorded_and_launched(world: World) -> None:
    run = world.service.start_upload("products", upload(), ANNA, dry_run=True)

    assert (run.importer, run.status, run.user_name, run.user_id) == ("products", "pending", "anna", 7)
    assert (run.payload, run.original_filename, run.is_dry_run) == (upload().ref, "products.csv", True)
    assert run.fingerprint == "fingerprint of products"
    assert world.launcher.launched == [run.id]


def test_an_unknown_slug_is_not_found(world: World) -> None:
    with pytest.raises(ImporterNotFound):
        world.service.start_upload("nothing", upload(), ANNA)
    with pytest.raises(ImporterNotFound):
        world.service.trigger("nothing", ANNA)


def test_an_importer_of_another_source_takes_no_upload(world: World) -> None:
    with pytest.raises(Conflict) as refusal:
        world.service.start_upload("orders", upload(), ANNA)
    assert refusal.value.code == "source_is_not_upload"


def test_an_importer_of_uploads_cannot_be_triggered(world: World) -> None:
    with pytest.raises(Conflict) as refusal:
        world.service.trigger("products", ANNA)
    assert refusal.value.code == "source_is_upload"


def test_a_path_importer_without_payload_and_default_path_needs_one(world: World) -> None:
    with pytest.raises(PayloadRequired):
        world.service.trigger("stock", ANNA)
    assert world.service.trigger("stock", ANNA, payload="in/stock.csv").original_filename == "stock.csv"


def test_a_default_path_is_enough_and_names_the_file(world: World) -> None:
    run = world.service.trigger("orders", ANNA)
    assert (run.payload, run.original_filename) == (None, "orders.csv")


def test_a_url_importer_takes_no_payload_and_its_file_is_named_by_the_url(world: World) -> None:
    assert world.service.trigger("prices", ANNA).original_filename == "prices.csv"
    with pytest.raises(InvalidParameter) as refusal:
        world.service.trigger("prices", ANNA, payload="https://elsewhere.example/x.csv")
    assert refusal.value.errors[0]["field"] == "payload"


@pytest.mark.parametrize("payload", ["", "   ", "a\0b", "a\nb", "x" * 4097])
def test_a_payload_that_is_no_path_is_refused(world: World, payload: str) -> None:
    with pytest.raises(InvalidParameter):
        world.service.trigger("stock", ANNA, payload=payload)


@pytest.mark.parametrize("payload", ["in/*.csv", "in/stock-?.csv", "in/stock[12].csv"])
def test_a_pattern_of_files_is_refused_with_a_hint(world: World, payload: str) -> None:
    with pytest.raises(InvalidParameter, match="one run per file") as refusal:
        world.service.trigger("stock", ANNA, payload=payload)
    assert refusal.value.errors[0]["field"] == "payload"
    assert world.service.trigger("stock", ANNA, payload="in/stock]1[.csv").payload == "in/stock]1[.csv"


def test_a_default_path_that_is_a_pattern_is_refused_with_a_hint(world: World) -> None:
    world.catalog.known["orders"]["source"]["options"]["path"] = "in/*.csv"
    with pytest.raises(InvalidParameter, match=r"default path 'in/\*.csv' is a pattern"):
        world.service.trigger("orders", ANNA)
    assert world.service.trigger("orders", ANNA, payload="in/orders.csv").payload == "in/orders.csv"


def test_a_paused_importer_starts_nothing(world: World) -> None:
    world.catalog.known["products"]["dag"]["is_paused"] = True
    with pytest.raises(Conflict) as refusal:
        world.started()
    assert refusal.value.code == "importer_paused"


def test_an_importer_that_is_gone_is_a_conflict_and_not_unknown(world: World) -> None:
    world.started()
    del world.catalog.known["products"]
    for start in (world.started, lambda: world.service.trigger("products", ANNA)):
        with pytest.raises(Conflict) as refusal:
            start()
        assert refusal.value.code == "importer_gone"


def test_a_staged_file_may_stand_in_for_a_path(world: World) -> None:
    run = world.service.start_staged("stock", upload(), ANNA)
    assert run.options == {"staged": True, "sha256": upload().sha256}
    with pytest.raises(Conflict):
        world.service.start_staged("prices", upload(), ANNA)


def test_the_same_key_and_request_answer_with_the_first_run(world: World) -> None:
    first = world.started(key="k1")
    again = world.service.start_upload("products", upload("a"), ANNA, key="k1")
    assert again.id == first.id
    assert world.launcher.launched == [first.id]


def test_the_same_key_with_another_request_is_a_conflict(world: World) -> None:
    world.started(key="k1")
    for other in ({"content": "b"}, {"dry_run": True}, {"force": True}):
        with pytest.raises(Conflict) as refusal:
            world.started(key="k1", **other)
        assert refusal.value.code == "idempotency_key_reused"
    with pytest.raises(Conflict):
        world.service.trigger("orders", ANNA, key="k1")


def test_keys_belong_to_their_user(world: World) -> None:
    first = world.service.trigger("orders", ANNA, key="k1")
    second = world.service.trigger("orders", BERT, payload="in/b.csv", key="k1")
    assert second.id != first.id


def test_a_key_is_forgotten_after_a_day(world: World) -> None:
    first = world.started(key="k1")
    world.pass_time(hours=25)
    second = world.started(key="k1", content="b")
    assert second.id != first.id
    world.pass_time(hours=25)
    assert world.started(key="k1", content="c").id not in (first.id, second.id)


@pytest.mark.parametrize("key", ["", " ", "a\tb", "ä", "x" * 256])
def test_a_key_is_short_printable_text(world: World, key: str) -> None:
    with pytest.raises(InvalidParameter) as refusal:
        world.started(key=key)
    assert refusal.value.errors[0]["field"] == "Idempotency-Key"


def test_many_requests_at_once_under_one_key_give_one_run(world: World) -> None:
    found: list[int] = []
    barrier = threading.Barrier(8)

    def start() -> None:
        barrier.wait()
        found.append(world.service.trigger("orders", ANNA, key="k1").id)

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1
    assert world.launcher.launched == [found[0]]


def test_starts_above_the_rate_are_refused_until_the_window_has_passed() -> None:
    world = World(starts=2)
    world.started(content="a")
    world.started(content="b", key="k1")
    with pytest.raises(TooManyStarts) as refusal:
        world.started(content="c")
    assert refusal.value.retry_after == 60
    assert world.started(content="b", key="k1").id == 2, "a repeated request is no new start"
    world.service.trigger("orders", BERT)
    world.pass_time(seconds=61)
    world.started(content="c")


def test_an_upload_is_refused_before_its_bytes_are_taken_in() -> None:
    world = World(starts=1)
    world.service.check_upload("products", ANNA)
    world.started()
    with pytest.raises(TooManyStarts):
        world.service.check_upload("products", ANNA)
    with pytest.raises(Conflict):
        world.service.check_upload("orders", BERT)
