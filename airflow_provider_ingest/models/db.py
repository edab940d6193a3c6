"""Creating, upgrading and dropping the ingest tables together with Airflow's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from airflow.utils.db_manager import BaseDBManager
from sqlalchemy import make_url, select, text

from airflow_provider_ingest.models import metadata

HERE = Path(__file__).parent
DEFAULT_CONN_ID = "ingest_db"


class IngestDBManager(BaseDBManager):  # type: ignore[misc]  # Airflow is followed as Any
    """Brings the ingest tables along with ``airflow db migrate`` and ``airflow db reset``.

    Where the metadata database is a SQLite file it also creates the connection ``ingest_db``, by which tasks
    reach the tables (Airflow keeps its own connection from them). Elsewhere an administrator creates it for a role
    with rights on these tables alone; see the documentation of the tables.
    """

    metadata = metadata
    version_table_name = "alembic_version_ingest"
    migration_dir = str(HERE / "migrations")
    alembic_file = str(HERE / "alembic.ini")
    supports_table_dropping = True
    revision_heads_map: ClassVar[dict[str, str]] = {"0.1.0": "0004"}

    def create_db_from_orm(self) -> None:
        """Create the tables of a fresh database and stamp them with the newest revision."""
        super().create_db_from_orm()
        self._prepare_sqlite()

    def upgradedb(
        self,
        to_revision: str | None = None,
        from_revision: str | None = None,
        show_sql_only: bool = False,
        use_migration_files: bool = False,
    ) -> None:
        """Bring the tables to a revision, the newest unless told otherwise."""
        super().upgradedb(
            to_revision=to_revision,
            from_revision=from_revision,
            show_sql_only=show_sql_only,
            use_migration_files=use_migration_files,
        )
        if not show_sql_only:
            self._prepare_sqlite()

    def downgrade(self, to_revision: str, from_revision: str | None = None, show_sql_only: bool = False) -> None:
        """Take the tables back to a revision (``base``: to none at all).

        :param from_revision: with ``show_sql_only``, where the written statements start; else the current one.
        """
        from alembic import command

        config = self.get_alembic_config()
        self.session.commit()  # our own reads must not hold locks that the migration waits for
        if show_sql_only:
            start = from_revision or self.get_current_revision()
            command.downgrade(config, f"{start}:{to_revision}", sql=True)
        else:
            command.downgrade(config, to_revision)

    def _prepare_sqlite(self) -> None:
        """Let tasks reach a SQLite metadata database: write-ahead log, connection ``ingest_db``."""
        from airflow import settings
        from airflow.models import Connection

        url = make_url(settings.SQL_ALCHEMY_CONN)
        if url.get_backend_name() != "sqlite" or not url.database or url.database == ":memory:":
            return
        self.session.commit()  # the journal mode cannot change inside a transaction
        self.session.execute(text("PRAGMA journal_mode=WAL"))
        conn_id = _conn_id()
        query: Any = select(Connection).where(Connection.conn_id == conn_id)
        if self.session.scalar(query) is None:
            self.log.info("Creating the connection %s, by which tasks reach the ingest tables", conn_id)
            path = str(Path(url.database).resolve())
            description = "The ingest tables in Airflow's own SQLite database, for ingest tasks"
            self.session.add(Connection(conn_id=conn_id, conn_type="sqlite", host=path, description=description))
        self.session.commit()


def _conn_id() -> str:
    from airflow.configuration import conf

    return str(conf.get("ingest", "db_conn_id", fallback=DEFAULT_CONN_ID)) or DEFAULT_CONN_ID
