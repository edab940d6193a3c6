"""Plan and read whole files in tests: what came out, as plain values."""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from airflow_provider_ingest import formats
from airflow_provider_ingest.formats.contract import FilePlan
from airflow_provider_ingest.runs.frames import LINE_NUMBER, ROW_NUMBER


@dataclass
class Whole:
    """All rows of a plan, read chunk by chunk."""

    plan: FilePlan
    rows: list[dict[str, Any]]
    numbers: list[int]
    lines: list[int]
    malformed: list[dict[str, Any]]
    batches: int

    @property
    def kinds(self) -> dict[str, str]:
        return {name: str(kind) for name, kind in self.plan.kinds.items()}


def read_all(plan: FilePlan, batch_rows: int = 50_000) -> Whole:
    whole = Whole(plan, [], [], [], [], 0)
    for chunk in plan.chunks:
        count = 0
        for batch in formats.read_chunk(plan.reader, chunk, batch_rows=batch_rows):
            assert batch.columns == list(plan.columns)
            assert dict(batch.kinds) == dict(plan.kinds)
            assert 0 < batch.rows <= batch_rows
            count += batch.rows
            whole.batches += 1
            whole.numbers += batch.frame[ROW_NUMBER].to_list()
            whole.lines += batch.frame[LINE_NUMBER].to_list()
            whole.rows += batch.frame.drop(ROW_NUMBER, LINE_NUMBER).to_dicts()
            whole.malformed += batch.malformed.to_dicts()
        assert count == chunk.rows
    return whole


def read_file(path: Path, *, chunk_rows: int = 1000, batch_rows: int = 50_000, **options: Any) -> Whole:
    with tempfile.TemporaryDirectory() as scratch:
        plan = formats.plan_file(path, options=options, chunk_rows=chunk_rows, scratch=Path(scratch) / "new")
        return read_all(plan, batch_rows)


def read_bytes(data: bytes, *, chunk_rows: int = 1000, batch_rows: int = 50_000, **options: Any) -> Whole:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "upload.bin"
        path.write_bytes(data)
        return read_file(path, chunk_rows=chunk_rows, batch_rows=batch_rows, **options)
