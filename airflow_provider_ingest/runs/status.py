"""The states of a run and the only table of the ways between them."""

from __future__ import annotations

from enum import StrEnum

from airflow_provider_ingest.exceptions import IllegalTransition


class RunStatus(StrEnum):
    """The status of a run, as stored and as shown by every interface."""

    PENDING = "pending"
    PROCESSING = "processing"
    CANCELLING = "cancelling"
    COMPLETED = "completed"
    COMPLETED_WITH_ERRORS = "completed_with_errors"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_terminal(self) -> bool:
        """Whether a run in this status has ended."""
        return self in TERMINAL


TRANSITIONS: dict[RunStatus, frozenset[RunStatus]] = {
    RunStatus.PENDING: frozenset({RunStatus.PROCESSING, RunStatus.CANCELLING, RunStatus.CANCELLED, RunStatus.FAILED}),
    RunStatus.PROCESSING: frozenset(
        {RunStatus.COMPLETED, RunStatus.COMPLETED_WITH_ERRORS, RunStatus.FAILED, RunStatus.CANCELLING}
    ),
    RunStatus.CANCELLING: frozenset({RunStatus.CANCELLED, RunStatus.FAILED}),
    RunStatus.COMPLETED: frozenset(),
    RunStatus.COMPLETED_WITH_ERRORS: frozenset(),
    RunStatus.FAILED: frozenset(),
    RunStatus.CANCELLED: frozenset(),
}

TERMINAL: frozenset[RunStatus] = frozenset(status for status, after in TRANSITIONS.items() if not after)
OPEN: frozenset[RunStatus] = frozenset(RunStatus) - TERMINAL


def origins(target: RunStatus) -> frozenset[RunStatus]:
    """The statuses from which a run may become ``target``."""
    return frozenset(status for status, after in TRANSITIONS.items() if target in after)


def check_transition(current: RunStatus, target: RunStatus) -> None:
    """Raise :class:`IllegalTransition` unless ``current`` may become ``target``."""
    if target not in TRANSITIONS[current]:
        allowed = ", ".join(sorted(TRANSITIONS[current])) or "nothing: it has ended"
        raise IllegalTransition(f"A run that is {current} cannot become {target}; it may become {allowed}.")
