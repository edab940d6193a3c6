"""What all commands share: their session and user, refusals as one line, exit codes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, NoReturn

from airflow.utils.cli import suppress_logs_and_warning
from airflow.utils.platform import getuser
from airflow.utils.providers_configuration_loader import providers_configuration_loaded

from airflow_provider_ingest.exceptions import IngestError
from airflow_provider_ingest.service import Caller, IngestService

REFUSED = 1
INTERRUPTED = 130


def command(body: Callable[[Any], None]) -> Callable[[Any], None]:
    """Make a function a command: what it refuses is one line on stderr and exit code 1."""

    @wraps(body)
    def run(args: Any) -> None:
        from sqlalchemy.exc import DBAPIError

        try:
            body(args)
        except IngestError as error:
            refuse(str(error))
        except DBAPIError as error:
            reason = type(error.orig or error).__name__
            refuse(
                f"The ingest tables cannot be reached ({reason}); is the database up, and was 'airflow db migrate' run?"
            )
        except KeyboardInterrupt:
            sys.exit(INTERRUPTED)

    return suppress_logs_and_warning(providers_configuration_loaded(run))  # type: ignore[no-any-return]


def refuse(message: str) -> NoReturn:
    """Say why not, and exit."""
    print(f"Error: {message}", file=sys.stderr)
    sys.exit(REFUSED)


@contextmanager
def ingest() -> Iterator[IngestService]:
    """The service in a transaction of its own."""
    from airflow.utils.session import create_session

    from airflow_provider_ingest import bootstrap

    with create_session(scoped=False) as session:
        yield bootstrap.ingest_service(session)


def caller() -> Caller:
    """The user of the operating system."""
    return Caller(name=getuser())
