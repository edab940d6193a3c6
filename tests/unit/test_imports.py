"""What a DAG file pulls in: the DAG processor parses it again and again, and works no row."""

from __future__ import annotations

import json
import subprocess
import sys

HEAVY = ("polars", "pyarrow", "numpy", "psycopg", "pymysql", "fastapi", "airflow_provider_ingest.plugins.api.app")

DAG_FILE = """
import sys
import airflow.sdk
before = set(sys.modules)
from airflow_provider_ingest import DuplicateStrategy, IngestConfig, SourceType, ingest_dag
from airflow_provider_ingest import transformers as t, validators as v

for number in range(3):
    config = (
        IngestConfig.for_("shop.products", conn_id="shop")
        .from_source(SourceType.UPLOAD)
        .expect_schema({"sku": {"type": "string", "required": True}})
        .map_transform_and_validate("sku", "sku", t.TrimTransformer, [v.RequiredValidator, v.RegexValidator("^A", "A")])
        .map_and_transform("name", "slug", [t.SlugTransformer, str.upper])
        .map_and_transform(None, "both", t.ConcatTransformer(["sku", "name"]))
        .map_and_transform("size", "size", [t.MapTransformer({"S": 1}), t.DefaultValueTransformer(0)])
        .map_and_transform("active", "active", t.BooleanTransformer())
        .map_and_transform("day", "day", t.DateTransformer("%d.%m.%Y", "%Y-%m-%d"))
        .map_transform_and_validate("price", "price", [t.NumericTransformer(2)], [v.RangeValidator(0, 10)])
        .map_and_validate("mail", "mail", v.EmailValidator)
        .map_and_validate("kind", "kind", [v.InArrayValidator(["a", "b"]), lambda value: True])
        .map_and_validate("date", "date", v.DateValidator())
        .map_when("code", "code", lambda row: row["kind"] == "a")
        .relate("category", "category_id", "categories", key="name")
        .nest("variants", lambda one: one.for_("variants").map("size", "size"))
        .keyed_by("sku", on_duplicate=DuplicateStrategy.UPDATE)
    )
    ingest_dag(f"products_{number}", config)
"""

SAY = "\nimport json\nprint(json.dumps(sorted(set(sys.modules) - before)))"


def imported_by(code: str) -> set[str]:
    done = subprocess.run([sys.executable, "-c", code + SAY], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_a_dag_file_loads_nothing_that_works_rows_or_answers_requests():
    assert not imported_by(DAG_FILE) & set(HEAVY)


def test_tasks_that_work_no_rows_load_nothing_that_does():
    code = """
import sys
import airflow.sdk
before = set(sys.modules)
from airflow_provider_ingest.operators import chunk, contested, finish, plan, stage
from airflow_provider_ingest.storage import sql_store
"""
    assert not imported_by(code) & {"polars", "pyarrow", "numpy"}


def test_the_package_alone_loads_next_to_nothing():
    code = "import sys\nbefore = set(sys.modules)\nimport airflow_provider_ingest"
    assert not {name for name in imported_by(code) if name.partition(".")[0] in (*HEAVY, "airflow", "sqlalchemy")}
