"""The DAG of an importer: what it carries, that it stays the same, and what is refused."""

from __future__ import annotations

import json

import pytest
from airflow.models.serialized_dag import SerializedDagModel
from airflow.serialization.serialized_objects import DagSerialization

from airflow_provider_ingest import EventHandler, IngestConfig, SourceType, ingest_dag, ingest_prune_dag
from airflow_provider_ingest.exceptions import ConfigError
from airflow_provider_ingest.storage.catalog import manifest_in, pools_in


def config(source=SourceType.FILESYSTEM, **options):
    return (
        IngestConfig.for_("public.products", conn_id="shop")
        .from_source(source, **options)
        .map_and_transform("sku", "sku", lambda value: value)
        .with_event_handler(EventHandler())
        .keyed_by("sku")
    )


def serialized(dag):
    return DagSerialization.to_dict(dag)


def test_the_manifest_travels_with_the_serialized_dag():
    dag = ingest_dag("products", config(path="p.csv"))
    manifest = manifest_in(serialized(dag))
    assert manifest is not None
    assert (manifest["slug"], manifest["dag_id"], dag.dag_id) == ("products", "ingest_products", "ingest_products")
    assert manifest == json.loads(dag.get_task("stage").doc_json)


def test_the_pools_that_its_tasks_wait_for_are_known_from_the_serialized_dag():
    assert pools_in(serialized(ingest_dag("products", config(path="p.csv"), pool="small"))) == ["default_pool", "small"]
    assert pools_in(serialized(ingest_dag("products", config(path="p.csv")))) == ["default_pool"]


def test_parsing_twice_gives_one_version():
    first, second = (serialized(ingest_dag("products", config(path="p.csv"))) for _ in range(2))
    assert SerializedDagModel.hash(first) == SerializedDagModel.hash(second)
    assert "0x" not in json.dumps(second)


def test_the_config_itself_is_found_through_the_dag_and_not_serialized():
    made = config(path="p.csv")
    dag = ingest_dag("products", made)
    assert dag.get_task("stage").importer_config is made
    assert "_config" not in json.dumps(serialized(dag))


def test_the_tasks_hang_together_and_finish_runs_on_every_ending():
    dag = ingest_dag("products", config(path="p.csv"), pool="small", max_active_tis_per_dagrun=3, retries=7)
    assert [task.task_id for task in dag.topological_sort()] == ["stage", "plan", "chunk", "finish"]
    assert dag.get_task("finish").trigger_rule.value == "all_done"
    chunk = dag.get_task("chunk")
    assert (chunk.pool, chunk.max_active_tis_per_dagrun, chunk.retries) == ("small", 3, 7)
    assert (dag.catchup, dag.is_paused_upon_creation, dag.tags) == (False, False, {"ingest"})


def test_the_trigger_form_asks_for_what_the_source_takes():
    assert list(ingest_dag("a", config(path="p.csv")).params) == ["payload", "dry_run", "force"]
    assert list(ingest_dag("b", config(SourceType.UPLOAD)).params) == ["dry_run", "force"]
    form = ingest_dag("c", config(path="p.csv")).params.get_param("payload")
    assert "`p.csv` is read" in form.description
    assert "name one" in ingest_dag("d", config()).params.get_param("payload").description


def test_the_documentation_tells_source_target_key_and_mappings():
    text = ingest_dag("products", config(path="in|`p`.csv", disk="files")).doc_md
    assert "the disk `files`" in text
    assert "table `public.products`" in text
    assert "| `sku` |" in text
    assert "**update**" in text


def test_options_of_dag_are_passed_on():
    dag = ingest_dag("products", config(path="p.csv"), tags=["shop"], max_active_runs=2, description="mine")
    assert (dag.tags, dag.max_active_runs, dag.description) == ({"ingest", "shop"}, 2, "mine")


def test_what_cannot_work_is_refused_where_it_is_written():
    with pytest.raises(ConfigError, match="has no schedule"):
        ingest_dag("products", config(SourceType.UPLOAD), schedule="@daily")
    with pytest.raises(ConfigError, match="'params' is set by the service"):
        ingest_dag("products", config(path="p.csv"), params={})
    with pytest.raises(ConfigError, match="is used by the service itself"):
        ingest_dag("prune", config(path="p.csv"))


def test_other_dags_have_no_manifest():
    assert manifest_in(serialized(ingest_prune_dag())) is None
    assert manifest_in({}) is None
