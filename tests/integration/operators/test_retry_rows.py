"""What a retry takes from the row log of the run before."""

from __future__ import annotations

import csv
import re

import polars as pl
import pytest
import xlsxwriter

from airflow_provider_ingest.exceptions import SourceError
from airflow_provider_ingest.formats import read_chunk
from airflow_provider_ingest.operators.retry_rows import plan_corrected_rows, plan_logged_rows
from airflow_provider_ingest.runs.frames import ROW_LOG, ROW_NUMBER, Kind
from airflow_provider_ingest.runs.outcome import ChunkOutcome
from airflow_provider_ingest.runs.progress import Counts
from airflow_provider_ingest.runs.records import ChunkPlan, NewRun
from airflow_provider_ingest.testing.memory_store import MemoryStore

LOGGED = [
    (3, 4, '{"sku":"A","price":"x"}', '{"message":"The given data was invalid.","code":"numeric","stage":"transform"}'),
    (7, 9, '{"sku":"B","_raw":"B"}', '{"message":"expected 2 fields, found 1","code":"malformed_row","stage":"parse"}'),
]


def logged_run():
    store = MemoryStore()
    run = store.create_run(NewRun(key="key", importer="stock", dag_id="ingest_stock", dag_run_id="one"))
    store.record_plan(run.id, [ChunkPlan(index=0, first_row=1, rows=9, location={})])
    store.start_chunk(run.id, 0)
    logged = [(row, line, "failed", "m", data, errors, None) for row, line, data, errors in LOGGED]
    store.append_rows(run.id, 0, pl.DataFrame(logged, schema=ROW_LOG, orient="row"))
    store.finish_chunk(run.id, 0, ChunkOutcome(counts=Counts(created=9 - len(LOGGED), failed=len(LOGGED))))
    return store, run


def test_a_record_that_was_no_row_does_not_become_one_by_retrying_it(tmp_path):
    store, run = logged_run()
    plan = plan_logged_rows(store, store.get_run(run.id), chunk_rows=10, scratch=tmp_path)
    (batch,) = [batch for chunk in plan.chunks for batch in read_chunk(plan.reader, chunk)]
    assert batch.frame.to_dicts() == [{ROW_NUMBER: 3, "_line_number": 4, "sku": "A", "price": "x"}]
    assert batch.malformed.select(ROW_NUMBER, "_line_number", "reason", "raw").row(0) == (
        7,
        9,
        "expected 2 fields, found 1",
        "B",
    )


TOO_WIDE = (
    8, 10, '{"sku":"C","price":"1","_extra":["50"],"_raw":"C,1,50"}',
    '{"message":"expected 2 fields, found 3","code":"malformed_row","stage":"parse"}',
)  # fmt: skip


@pytest.mark.parametrize(
    ("line", "rows", "malformed"),
    [
        ("C,1,8", [], [(8, "expected 2 fields, found 3", "C,1,50")]),
        ("C,1.50,8", [(8, "C", "1.50")], []),
        ("B,2,7", [(7, "B", "2")], []),
        ("B,,7", [(7, "B", "")], []),
    ],
    ids=["as it was sent out", "corrected", "too narrow, and filled up", "too narrow, and all of it seen"],
)
def test_a_record_whose_surplus_no_download_can_show_is_a_row_only_when_it_was_corrected(
    tmp_path, monkeypatch, line, rows, malformed
):
    monkeypatch.setattr(f"{__name__}.LOGGED", [*LOGGED, TOO_WIDE])
    store, run = logged_run()
    store.record_file(run.id, {"columns": ["sku", "price"]})
    path = tmp_path / "corrected.csv"
    path.write_text(f"sku,price,_row_number\n{line}\n")
    plan = plan_corrected_rows(path, store, store.get_run(run.id), Masked(), chunk_rows=10, scratch=tmp_path)
    (batch,) = [batch for chunk in plan.chunks for batch in read_chunk(plan.reader, chunk)]
    assert batch.frame.select(ROW_NUMBER, "sku", "price").rows() == rows
    assert batch.malformed.select(ROW_NUMBER, "reason", "raw").rows() == malformed


class Masked:
    """A plan that hides these columns."""

    def __init__(self, *columns: str) -> None:
        self.columns = columns

    def masked_columns(self, columns):
        return frozenset(self.columns) & frozenset(columns)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("A,***,3", "Line 2 of the corrected file has *** in the sensitive field 'price'"),
        (",,3", "Line 2 of the corrected file has no values"),
    ],
)
@pytest.mark.parametrize("is_sensitive_still", [True, False])
def test_what_hides_a_value_is_never_taken_for_one(tmp_path, line, reason, is_sensitive_still):
    store, run = logged_run()
    store.record_file(run.id, {"masked": [] if is_sensitive_still else ["price"]})
    plan = Masked("price") if is_sensitive_still else Masked()
    corrected = tmp_path / "corrected.csv"
    corrected.write_text(f"sku,price,_row_number\n{line}\n")
    with pytest.raises(SourceError, match=re.escape(reason)):
        plan_corrected_rows(corrected, store, store.get_run(run.id), plan, chunk_rows=10, scratch=tmp_path)


@pytest.mark.parametrize("name", ["_row_number_2", "_row_number2"])
def test_a_file_that_was_a_download_of_failed_rows_itself_is_corrected_by_the_numbers_of_its_own_run(tmp_path, name):
    store, run = logged_run()
    columns = ["sku", "price", "_error_message", name]
    store.record_file(run.id, {"columns": columns})
    corrected = tmp_path / "corrected.csv"
    corrected.write_text(f"{','.join(columns)},_error_message,_row_number\nA,1,old,7,new,3\nB,2,older,3,newer,7\n")
    plan = plan_corrected_rows(corrected, store, store.get_run(run.id), Masked(), chunk_rows=10, scratch=tmp_path)
    (batch,) = [batch for chunk in plan.chunks for batch in read_chunk(plan.reader, chunk)]
    assert batch.frame.select(ROW_NUMBER, *columns).rows() == [(3, "A", "1", "old", "7"), (7, "B", "2", "older", "3")]


def test_a_column_of_the_file_is_not_taken_for_the_numbers_that_were_deleted(tmp_path):
    store, run = logged_run()
    store.record_file(run.id, {"columns": ["sku", "_row_number_2"]})
    corrected = tmp_path / "corrected.csv"
    corrected.write_text("sku,_row_number_2\nA,7\n")
    with pytest.raises(SourceError, match="no column '_row_number'"):
        plan_corrected_rows(corrected, store, store.get_run(run.id), Masked(), chunk_rows=10, scratch=tmp_path)


FROM_JSON = [
    (1, 1, '{"sku":"A","name":null,"size":2,"new":true,"parts":[1],"mixed":null,"price":"x"}'),
    (2, 2, '{"sku":"B","name":null,"size":3,"new":false,"parts":null,"mixed":"","price":"y"}'),
]


def write_csv(path, rows):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)


def write_xlsx(path, rows):
    with xlsxwriter.Workbook(str(path), {"strings_to_formulas": False}) as book:
        sheet = book.add_worksheet()
        for number, row in enumerate(rows):
            sheet.write_row(number, 0, [None if cell == "" else cell for cell in row])


@pytest.mark.parametrize("write", [write_csv, write_xlsx])
def test_corrected_cells_mean_what_they_meant_in_the_file_that_failed(tmp_path, write):
    store = MemoryStore()
    run = store.create_run(NewRun(key="key", importer="stock", dag_id="ingest_stock", dag_run_id="one"))
    store.record_plan(run.id, [ChunkPlan(index=0, first_row=1, rows=2, location={})])
    store.start_chunk(run.id, 0)
    errors = '{"message":"The given data was invalid.","code":"numeric","stage":"transform"}'
    logged = [(row, line, "failed", "m", data, errors, None) for row, line, data in FROM_JSON]
    store.append_rows(run.id, 0, pl.DataFrame(logged, schema=ROW_LOG, orient="row"))
    store.finish_chunk(run.id, 0, ChunkOutcome(counts=Counts(failed=2)))
    rows = [
        ["sku", "name", "size", "new", "parts", "mixed", "price", "_error_message", "_row_number"],
        ["'=B", "", "4", "FALSE", "", "", "2.5", "wrong", "2"],
        ["A", "", "2", "true", '[1,"=2"]', "", "1.5", "wrong", "1"],
    ]
    corrected = tmp_path / "corrected.file"
    write(corrected, rows)
    plan = plan_corrected_rows(corrected, store, store.get_run(run.id), Masked(), chunk_rows=10, scratch=tmp_path)
    (batch,) = [batch for chunk in plan.chunks for batch in read_chunk(plan.reader, chunk)]
    assert batch.frame.select(ROW_NUMBER, *rows[0][:-2]).rows() == [
        (2, "=B", None, "4", "false", None, "", "2.5"),
        (1, "A", None, "2", "true", '[1,"=2"]', None, "1.5"),
    ]
    kinds = {name: str(kind) for name, kind in batch.kinds.items() if kind is not Kind.TEXT}
    assert kinds == {"size": "integer", "new": "boolean", "parts": "json"}
