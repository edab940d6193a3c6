"""What the API server does once when it starts: end the runs that were lost while it was away."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = logging.getLogger(__name__)


class AtStartMiddleware:
    """Calls ``work`` in a thread of its own as soon as the server has started; passes everything on as it is.

    The server neither waits for the work nor ends with it.
    """

    def __init__(self, app: ASGIApp, work: Callable[[], None]) -> None:
        self.app = app
        self.work = work

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the call on, and look for the message that the server has started."""
        if scope["type"] != "lifespan":
            await self.app(scope, receive, send)
            return

        async def send_and_work(message: Message) -> None:
            await send(message)
            if message["type"] == "lifespan.startup.complete":
                threading.Thread(target=self.work, name="ingest-reconcile", daemon=True).start()

        await self.app(scope, receive, send_and_work)


def end_lost_runs() -> None:
    """End the runs whose DAG run ended or went away while nobody listened, and log which; the daily sweep does too."""
    from airflow.utils.session import create_session
    from sqlalchemy import inspect

    from airflow_provider_ingest import bootstrap

    try:
        with create_session() as session:
            if not inspect(session.connection()).has_table("ingest_runs"):
                log.warning("The ingest tables are missing: run `airflow db migrate`")
                return
            ended = bootstrap.reconcile(session)
    except Exception:  # a thread ends here; whatever is wrong, the server works and the daily sweep tries again
        log.exception("Looking for lost ingest runs at start failed")
        return
    for run in ended:
        log.warning("Ingest run %s of %s was lost; it is %s now", run.id, run.importer, run.status)
    log.info("Looked for lost ingest runs at start: %s ended", len(ended))
