"""Every exception this package raises on purpose.

::

    IngestError
    ├── ConfigError               an importer that cannot work: raised where it is defined
    ├── SettingsError             a bad value in ``[ingest]``
    ├── SetupError                tables or the connection ``ingest_db`` are missing or unreachable
    ├── RequestError              the caller asked for something that is refused
    │   ├── ImporterNotFound          404
    │   ├── RunNotFound               404
    │   ├── NothingFailed             400 / 404
    │   ├── PayloadRequired           400
    │   ├── Conflict                  409
    │   ├── UploadTooLarge            413
    │   ├── UnsupportedFile           415
    │   ├── InvalidParameter          422
    │   └── TooManyStarts             429
    ├── RunFailed                 the run as a whole cannot go on: ends it as ``failed``
    │   ├── SourceError               the file cannot be had
    │   ├── FormatError               the file cannot be read
    │   ├── SchemaMismatch            its columns are not the ones the importer expects
    │   ├── TargetError               the target table or database cannot take it
    │   ├── RejectLimitExceeded       more rows failed than the importer allows
    │   └── HookFailed                ``before_import`` raised
    └── IllegalTransition         a status change the state machine does not know

Failures of single rows are not exceptions: they are data
(:class:`~airflow_provider_ingest.runs.failure.RowFailure`).
"""

from __future__ import annotations

from typing import ClassVar


class IngestError(Exception):
    """Base of all errors of this package.

    ``code`` is stable and meant for programs, the message is meant for people.
    """

    code: ClassVar[str] = "ingest_error"


class ConfigError(IngestError):
    """An importer definition that cannot work; says what is wrong, where, and what is allowed."""

    code = "config_error"


class SettingsError(IngestError):
    """A value in the ``[ingest]`` section is not usable; names the key."""

    code = "settings_error"


class SetupError(IngestError):
    """The ingest tables, ``ingest_db`` or the staging storage cannot be reached; says how to mend it."""

    code = "not_available"


class RequestError(IngestError):
    """A request that is refused; ``status`` is its HTTP status."""

    status: ClassVar[int] = 400
    code = "bad_request"


class ImporterNotFound(RequestError):
    """No importer has this slug, or the caller may not see it."""

    status = 404
    code = "importer_not_found"


class RunNotFound(RequestError):
    """No run has this id, or the caller may not see it."""

    status = 404
    code = "run_not_found"


class NothingFailed(RequestError):
    """Retry (400) or download (404) of failed rows where no row failed."""

    status = 400
    code = "no_failed_rows"


class PayloadRequired(RequestError):
    """The importer needs a path and has no default one."""

    status = 400
    code = "payload_required"


class Conflict(RequestError):
    """The run or importer is not in a state that allows this; ``code`` says which state."""

    status = 409

    def __init__(self, message: str, code: str = "conflict") -> None:
        super().__init__(message)
        self.code = code  # type: ignore[misc]  # the instance narrows the class's code


class UploadTooLarge(RequestError):
    """The upload is above ``[ingest] max_upload_bytes``."""

    status = 413
    code = "upload_too_large"


class UnsupportedFile(RequestError):
    """The content is in none of the supported formats."""

    status = 415
    code = "unsupported_file"


class InvalidParameter(RequestError):
    """A parameter is malformed; ``errors`` lists ``{"field", "message"}``."""

    status = 422
    code = "invalid_parameter"

    def __init__(self, message: str, errors: tuple[dict[str, str], ...] = ()) -> None:
        super().__init__(message)
        self.errors = errors


class TooManyStarts(RequestError):
    """The caller started more runs than the configured rate; ``retry_after`` is in seconds."""

    status = 429
    code = "too_many_starts"

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class RunFailed(IngestError):
    """The run cannot go on; its message and ``code`` become ``summary.error``.

    ``retryable`` says whether Airflow should try the task again: true for what may pass
    (a server that does not answer), false for what will not (a wrong header).
    """

    code = "run_failed"
    retryable: bool = False


class SourceError(RunFailed):
    """The source's file cannot be fetched or read."""

    code = "source_error"

    def __init__(self, message: str, *, retryable: bool = False) -> None:
        super().__init__(message)
        self.retryable = retryable


class FormatError(RunFailed):
    """The file as a whole cannot be read as a table; says where and why."""

    code = "format_error"


class InflatesTooFar(FormatError):
    """A compressed file or a workbook holds more than a cap allows."""


class SchemaMismatch(RunFailed):
    """The file's columns are not those the importer expects; names them, with suggestions."""

    code = "schema_mismatch"


class TargetError(RunFailed):
    """The target table or its database cannot take the rows."""

    code = "target_error"

    def __init__(self, message: str, *, retryable: bool = False) -> None:
        super().__init__(message)
        self.retryable = retryable


class RejectLimitExceeded(RunFailed):
    """More rows failed than ``reject_above`` allows."""

    code = "reject_limit"


class HookFailed(RunFailed):
    """``before_import`` raised."""

    code = "hook_failed"


class IllegalTransition(IngestError):
    """A run cannot go from its status to the one asked for."""

    code = "illegal_transition"
