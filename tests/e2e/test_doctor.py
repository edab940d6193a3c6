"""``airflow ingest doctor`` names what is wrong and how to mend it; each case breaks a real configuration."""

from __future__ import annotations

import json
import socket
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from tests.e2e.airflow_server import AirflowServer
from tests.e2e.ports import free_ports


def mends(airflow: AirflowServer, **settings: str) -> dict[str, str]:
    """What the doctor wants done under these settings, by check."""
    sick = replace(airflow, environment={**airflow.environment, **settings})
    done = sick.run_cli("ingest", "doctor", "-o", "json", check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return {finding["check"]: finding["mend"] for finding in json.loads(done.stdout) if finding["mend"]}


def test_the_doctor_finds_a_working_installation_well(airflow: AirflowServer) -> None:
    tasks_ask = {"AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"{airflow.url}/execution/"}
    told = replace(airflow, environment={**airflow.environment, **tasks_ask})
    done = told.run_cli("ingest", "doctor", "-o", "json")
    findings = {finding["check"]: finding["mend"] for finding in json.loads(done.stdout)}
    assert set(findings) >= {"settings", "tables", "ingest_db", "staging", "api", "task_api", "importer products"}
    assert not any(findings.values())


def test_a_file_whose_importer_cannot_work_is_named_with_the_reason(airflow: AirflowServer) -> None:
    folder = Path(airflow.environment["AIRFLOW__CORE__DAGS_FOLDER"])
    sick, sound = folder / "sick_importer.py", folder / "sick_of_another_kind.py"
    sick.write_text(
        "from airflow_provider_ingest import IngestConfig, ingest_dag\n"
        'dag = ingest_dag("sick", IngestConfig.for_("t", conn_id="c").map("a", "a"))\n'
    )
    sound.write_text("from airflow.sdk import DAG\nraise RuntimeError('no importer')\n")
    try:
        airflow.run_cli("dags", "reserialize", check=False)
        found = mends(airflow)
    finally:
        sick.unlink()
        sound.unlink()
        airflow.run_cli("dags", "reserialize", check=False)
    assert 'ConfigError: importer "sick": it has no source' in found["file sick_importer.py"]
    assert not [check for check in found if "another_kind" in check]


def test_importers_that_share_a_slug_or_wait_for_a_pool_without_slots_are_named(airflow: AirflowServer) -> None:
    folder = Path(airflow.environment["AIRFLOW__CORE__DAGS_FOLDER"])
    definition = """
from airflow_provider_ingest import IngestConfig, SourceType, ingest_dag
config = IngestConfig.for_("products", conn_id="demo_db").from_source(SourceType.UPLOAD).map("sku", "sku")
dag = ingest_dag("{slug}", config{more})
"""
    files = {
        "twin_one.py": definition.format(slug="twin", more=""),
        "twin_two.py": definition.format(slug="twin", more=", schedule=None"),
        "waiting.py": definition.format(slug="waiting", more=', pool="of_nobody"'),
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    try:
        airflow.run_cli("dags", "reserialize", check=False)
        found = mends(airflow)
    finally:
        for name in files:
            (folder / name).unlink()
        airflow.run_cli("dags", "reserialize", check=False)
    assert found["importer twin"].startswith("twin_one.py and twin_two.py define it, and Airflow takes ")
    assert found["importer waiting"].startswith("Its tasks wait for the pool 'of_nobody', which is not there: ")


def test_a_bad_value_is_named_with_its_key_and_an_example(airflow: AirflowServer) -> None:
    assert mends(airflow, AIRFLOW__INGEST__CHUNK_SIZE="many") == {
        "settings": "[ingest] chunk_size = 'many' cannot be used: expected a whole number from 1. For example: 250000"
    }


def test_missing_connection_storage_and_api_are_named_together(airflow: AirflowServer, tmp_path: Path) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("a file where a directory should be")
    (nobody,) = free_ports(1)
    found = mends(
        airflow,
        AIRFLOW__INGEST__DB_CONN_ID="nowhere",
        AIRFLOW__INGEST__STORAGE_PATH=str(in_the_way / "ingest"),
        AIRFLOW__API__BASE_URL=f"http://127.0.0.1:{nobody}",
    )
    assert set(found) == {"ingest_db", "staging", "api"}
    assert "there is no Airflow connection 'nowhere'" in found["ingest_db"]
    assert "GRANT SELECT, INSERT, UPDATE, DELETE ON ingest_runs" in found["ingest_db"]
    assert "set [ingest] storage_path to a place that API server and workers share" in found["staging"]
    assert "start 'airflow api-server', or correct [api] base_url" in found["api"]


def test_a_database_without_the_tables_and_a_wrong_address_are_named(airflow: AirflowServer, tmp_path: Path) -> None:
    empty = tmp_path / "empty.db"
    empty.touch()
    found = mends(
        airflow,
        AIRFLOW__DATABASE__SQL_ALCHEMY_CONN=f"sqlite:///{empty}",
        AIRFLOW_CONN_INGEST_DB=json.dumps({"conn_type": "sqlite", "host": str(empty)}),
        AIRFLOW__INGEST__URL_PREFIX="/elsewhere",
    )
    assert set(found) == {"tables", "ingest_db", "api"}
    assert "airflow db migrate" in found["tables"]
    assert "airflow db migrate" in found["ingest_db"]
    assert "url_prefix" in found["api"]
    assert "proxy" not in found["api"]


def test_a_proxy_that_takes_the_path_away_is_thought_of(airflow: AirflowServer) -> None:
    found = mends(airflow, AIRFLOW__API__BASE_URL=f"{airflow.url}/airflow")
    assert set(found) == {"api"}
    assert "instead of 401" in found["api"]
    assert found["api"].endswith("or let the proxy before it pass the path /airflow on.")


def test_an_address_at_which_no_task_could_start_is_named(airflow: AirflowServer) -> None:
    (nobody,) = free_ports(1)
    for url, reason in {
        f"{airflow.url}/airflow/execution/": "is not where tasks can reach the API server",
        f"http://127.0.0.1:{nobody}/execution/": "or correct [core] execution_api_server_url.",
        "localhost/execution/": "'localhost/execution/' cannot be used: it is the address under which tasks reach",
    }.items():
        found = mends(airflow, AIRFLOW__CORE__EXECUTION_API_SERVER_URL=url)
        assert set(found) == {"task_api"}
        assert reason in found["task_api"]


def test_a_connection_to_another_database_is_noticed(airflow: AirflowServer, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    airflow.python(
        "from sqlalchemy import create_engine; from airflow_provider_ingest.models import metadata;"
        f"metadata.create_all(create_engine('sqlite:///{other}'))"
    )
    airflow.run_cli("ingest", "run", "customers", "--file", "customers.csv", "--dry-run")
    connection = json.dumps({"conn_type": "sqlite", "host": str(other)})
    found = mends(airflow, AIRFLOW_CONN_INGEST_DB=connection)
    assert set(found) == {"ingest_db"}
    assert "leads to another database" in found["ingest_db"]


def target(kind: str, host: str, **more: object) -> str:
    """A connection in place of that of the shop's database."""
    return json.dumps({"conn_type": kind, "host": host, **more})


def test_a_table_into_which_no_row_could_be_written_is_named_for_each_importer(
    airflow: AirflowServer, tmp_path: Path
) -> None:
    other = tmp_path / "other.db"
    with closing(sqlite3.connect(other)) as database, database:
        database.execute("CREATE TABLE products (sku TEXT PRIMARY KEY, title TEXT)")
    found = mends(airflow, AIRFLOW_CONN_DEMO_DB=target("sqlite", str(other)))
    assert "has no column" in found["importer products"]
    assert found["importer customers"].startswith("The table customers does not exist. The database has products.")


def test_a_missing_target_database_is_named_and_not_made(airflow: AirflowServer, tmp_path: Path) -> None:
    nothing = tmp_path / "nothing.db"
    found = mends(airflow, AIRFLOW_CONN_DEMO_DB=target("sqlite", str(nothing)))
    assert found["importer products"] == f"There is no database {str(nothing)!r} here."
    assert not nothing.exists()


def test_a_target_that_does_not_answer_is_waited_for_once(airflow: AirflowServer) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        connection = target("postgres", "127.0.0.1", port=silent.getsockname()[1], schema="shop")
        found = mends(airflow, AIRFLOW_CONN_DEMO_DB=connection)
        silent.setblocking(False)
        silent.accept()[0].close()
        try:
            silent.accept()[0].close()
            was_asked_again = True
        except BlockingIOError:
            was_asked_again = False
    assert not was_asked_again
    assert len([mend for mend in found.values() if "(connection 'demo_db') does not answer within 10 s" in mend]) > 1
