from __future__ import annotations

import pytest

from airflow_provider_ingest.exceptions import Conflict, NothingFailed, RunNotFound
from airflow_provider_ingest.runs.status import RunStatus
from airflow_provider_ingest.service import StagedUpload
from tests.unit.service.world import ANNA, World, upload


@pytest.fixture
def world() -> World:
    return World()


def test_a_retry_is_a_new_run_of_the_failed_rows_and_leaves_the_old_one_alone(world: World) -> None:
    origin = world.ended()
    retry = world.service.retry(origin.id, ANNA)

    assert (retry.retry_of, retry.root_run, retry.attempt, retry.payload) == (origin.id, origin.id, 2, None)
    assert retry.original_filename == origin.original_filename
    assert world.service.run(origin.id) == origin
    assert world.launcher.launched == [origin.id, retry.id]


def test_a_retry_of_a_retry_keeps_its_root(world: World) -> None:
    origin = world.ended()
    first = world.service.retry(origin.id, ANNA)
    world.finish(first, failed=1, created=1)
    second = world.service.retry(first.id, ANNA)
    assert (second.retry_of, second.root_run, second.attempt) == (first.id, origin.id, 3)


def test_two_retries_at_once_give_one(world: World) -> None:
    origin = world.ended()
    first = world.service.retry(origin.id, ANNA)
    assert world.service.retry(origin.id, ANNA).id == first.id
    assert world.launcher.launched == [origin.id, first.id]


def test_another_retry_while_one_is_open_is_a_conflict(world: World) -> None:
    origin = world.ended()
    world.service.retry(origin.id, ANNA)
    with pytest.raises(Conflict) as refusal:
        world.service.retry(origin.id, ANNA, dry_run=True)
    assert refusal.value.code == "retry_running"


def test_a_run_can_be_retried_again_after_its_retry_has_ended(world: World) -> None:
    origin = world.ended()
    first = world.service.retry(origin.id, ANNA)
    world.finish(first, failed=2)
    assert world.service.retry(origin.id, ANNA).id != first.id


def test_a_run_without_failed_rows_has_nothing_to_retry(world: World) -> None:
    with pytest.raises(NothingFailed) as refusal:
        world.service.retry(world.ended(failed=0).id, ANNA)
    assert refusal.value.status == 400


def test_a_run_still_at_work_cannot_be_retried(world: World) -> None:
    with pytest.raises(Conflict) as refusal:
        world.service.retry(world.started().id, ANNA)
    assert refusal.value.code == "run_not_finished"


def test_a_dry_run_can_only_be_retried_as_a_dry_run(world: World) -> None:
    origin = world.ended(dry_run=True)
    with pytest.raises(Conflict):
        world.service.retry(origin.id, ANNA)
    assert world.service.retry(origin.id, ANNA, dry_run=True).is_dry_run


def test_a_retry_may_be_a_dry_run(world: World) -> None:
    assert world.service.retry(world.ended().id, ANNA, dry_run=True).is_dry_run


@pytest.mark.parametrize("status", [RunStatus.FAILED, RunStatus.COMPLETED_WITH_ERRORS])
def test_failed_rows_of_a_failed_run_can_be_retried_too(world: World, status: RunStatus) -> None:
    assert world.service.retry(world.ended(status=status).id, ANNA)


@pytest.mark.parametrize("corrected", [None, upload("fixed")])
def test_rows_that_are_not_logged_any_more_cannot_be_retried(world: World, corrected: StagedUpload | None) -> None:
    origin = world.ended(log=False)
    with pytest.raises(Conflict) as refusal:
        world.service.retry(origin.id, ANNA, corrected=corrected)
    assert refusal.value.code == "rows_gone"


def test_a_corrected_file_is_what_its_retry_reads(world: World) -> None:
    retry = world.service.retry(world.ended().id, ANNA, corrected=upload("fixed", "fixed.csv"))
    assert (retry.payload, retry.original_filename) == (upload("fixed", "fixed.csv").ref, "fixed.csv")
    assert retry.options == {"corrected": True, "sha256": upload("fixed", "fixed.csv").sha256}


def test_rows_with_sensitive_fields_need_a_corrected_file(world: World) -> None:
    origin = world.ended()
    world.catalog.known["products"]["sensitive_fields"] = ["sku"]
    with pytest.raises(Conflict) as refusal:
        world.service.retry(origin.id, ANNA)
    assert refusal.value.code == "sensitive_rows"
    assert world.service.retry(origin.id, ANNA, corrected=upload("fixed"))


def test_what_is_left_of_failed_rows_says_why_a_file_is_needed(world: World) -> None:
    kept = world.service.kept_rows(world.ended(failed=2))
    assert (kept.logged, kept.refusal) == (2, None)
    pruned = world.service.kept_rows(world.ended(failed=2, log=False))
    assert (pruned.logged, pruned.refusal and pruned.refusal.code, pruned.can_correct) == (0, "rows_gone", False)
    world.catalog.known["products"]["sensitive_fields"] = ["sku"]
    masked = world.service.kept_rows(world.ended(failed=2))
    assert (masked.logged, masked.refusal and masked.refusal.code, masked.can_correct) == (2, "sensitive_rows", True)


def test_rows_that_were_logged_while_a_field_was_sensitive_stay_hidden(world: World) -> None:
    origin = world.ended()
    world.store.record_file(origin.id, {"masked": ["sku"]})
    with pytest.raises(Conflict) as refusal:
        world.service.retry(origin.id, ANNA)
    assert refusal.value.code == "sensitive_rows"


def test_a_run_whose_importer_is_gone_cannot_be_retried(world: World) -> None:
    origin = world.ended()
    del world.catalog.known["products"]
    with pytest.raises(Conflict) as refusal:
        world.service.retry(origin.id, ANNA)
    assert refusal.value.code == "importer_gone"


def test_an_idempotent_retry_answers_with_its_run_after_the_end_too(world: World) -> None:
    origin = world.ended()
    first = world.service.retry(origin.id, ANNA, key="k1")
    world.finish(first, failed=1)
    assert world.service.retry(origin.id, ANNA, key="k1").id == first.id


def test_an_unknown_run_cannot_be_retried(world: World) -> None:
    with pytest.raises(RunNotFound):
        world.service.retry(99, ANNA)
