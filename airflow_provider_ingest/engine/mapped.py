"""One mapping over a stretch of rows: transformers, validators, and the conversion to the target's column."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping as MappingABC
from contextlib import contextmanager
from dataclasses import dataclass, field

import polars as pl

from airflow_provider_ingest.engine.convert import Conversion
from airflow_provider_ingest.engine.failures import refused_rows
from airflow_provider_ingest.engine.kinds import typed
from airflow_provider_ingest.engine.stretch import Located, Stretch
from airflow_provider_ingest.engine.trace import HIDDEN, INPUT, MappingTrace, Step
from airflow_provider_ingest.exceptions import RunFailed
from airflow_provider_ingest.importers.mapping import Mapping
from airflow_provider_ingest.runs.failure import Stage
from airflow_provider_ingest.runs.frames import Kind
from airflow_provider_ingest.transformers.base import Refusal, ScalarTransformer, Transformer
from airflow_provider_ingest.transformers.scalar import apply_transformer
from airflow_provider_ingest.validators.base import ScalarValidator
from airflow_provider_ingest.validators.scalar import apply_validator


@dataclass(frozen=True, slots=True, kw_only=True)
class MappedColumn:
    """A mapping as compiled: where it goes, and whether its values may be shown."""

    mapping: Mapping
    convert: Conversion
    is_sensitive: bool


@dataclass(slots=True)
class Findings:
    """What working a batch brings up beside the values.

    :param bad: rows refused by the expected schema, by source column: their values are not looked at again.
    """

    is_traced: bool = False
    bad: MappingABC[str, pl.Series] = field(default_factory=dict)
    failures: list[pl.DataFrame] = field(default_factory=list)
    traces: list[MappingTrace] = field(default_factory=list)


def work_mapping(
    column: MappedColumn, part: Stretch, whole: Stretch, findings: Findings, bad: pl.Series | None
) -> pl.Series:
    """The attribute's values for the rows of ``part``, converted; notes failures and trace.

    :param part: the rows in which the mapping is active, of the stretch ``whole``.
    :param bad: the rows of ``part`` that the expected schema refused already.
    """
    return _Work(column, part, whole, findings, bad).values()


@contextmanager
def _users_code(name: str, attribute: str) -> Iterator[None]:
    """Columnar steps may be a user's too: what they raise ends the run, without its text, which may hold values."""
    try:
        yield
    except (RunFailed, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001  # a user's code may raise anything; the run ends with its name
        raise RunFailed(f'{name} of the attribute "{attribute}" raised {type(error).__name__}.') from None


class _Work:
    """The state of one mapping on its way through its steps."""

    def __init__(
        self, column: MappedColumn, part: Stretch, whole: Stretch, findings: Findings, bad: pl.Series | None
    ) -> None:
        self.column, self.part, self.whole, self.findings = column, part, whole, findings
        self.bad = bad
        self.located: Located | None = part.locate(column.mapping.fields)
        fields = column.mapping.fields
        self.name = self.located.name if self.located else fields[0] if fields else column.mapping.attribute
        self.raw = part.text(self.located)

    def values(self) -> pl.Series:
        mapping = self.column.mapping
        current = self._transformed()
        if mapping.validators:
            checked = current if mapping.transformers else typed(self.raw, self.part.kind(self.located))
            for validator in mapping.validators:
                rows = self.part.typed_rows if isinstance(validator, ScalarValidator) else self.part.rows
                with _users_code(validator.name, mapping.attribute):
                    refused = apply_validator(validator, checked, rows)
                self._refuse(refused, Stage.VALIDATE, keep_going=True)
            self._settle()
        converted, refused = self.column.convert(current)
        self._refuse(refused, Stage.VALIDATE)
        return converted

    def _transformed(self) -> pl.Series:
        mapping, part = self.column.mapping, self.part
        kind = part.kind(self.located)
        steps: list[Step] = []
        current = self.raw
        if mapping.transformers and not (kind is Kind.NUMBER and isinstance(mapping.transformers[0], Transformer)):
            current = typed(self.raw, kind)  # a columnar first step reads numbers from their exact text
        if self.findings.is_traced and mapping.fields:
            steps.append(Step(name=INPUT, values=self.raw))
        for step in mapping.transformers:
            rows = part.typed_rows if isinstance(step, ScalarTransformer) else part.rows
            with _users_code(step.name, mapping.attribute):
                result = apply_transformer(step, current, rows)
            self._refuse(result.refused, Stage.TRANSFORM)
            current = result.values
            if self.findings.is_traced:
                reached = None if self.bad is None else ~self.bad
                steps.append(Step(name=step.name, values=current, reached=reached))
        if self.findings.is_traced:
            self._trace(steps)
        return current

    def _refuse(self, refused: tuple[Refusal, ...], stage: Stage, *, keep_going: bool = False) -> None:
        """Note the rows that a step refuses, except those that have failed in this mapping before."""
        for refusal in refused:
            rows = refusal.rows.fill_null(False)
            if self.bad is not None:
                rows = rows & ~self.bad
            if not rows.any():
                continue
            self.findings.failures.append(
                refused_rows(
                    Refusal(rows=rows, code=refusal.code, message=refusal.message),
                    self.part.numbers,
                    stage=stage,
                    field=self.part.label(self.name),
                    got=self.raw if self.located is not None else None,
                    hide=self.column.is_sensitive,
                )
            )
            if keep_going:
                self._pending = rows if self._pending is None else self._pending | rows
            else:
                self.bad = rows if self.bad is None else self.bad | rows

    _pending: pl.Series | None = None

    def _settle(self) -> None:
        """Take the rows that any validator refused out of what follows: all validators had their say."""
        if self._pending is not None:
            self.bad = self._pending if self.bad is None else self.bad | self._pending

    def _trace(self, steps: list[Step]) -> None:
        mapping = self.column.mapping
        if self.column.is_sensitive:
            hidden = pl.repeat(HIDDEN, self.part.height, dtype=pl.String, eager=True)
            steps = [Step(name=step.name, values=hidden, reached=step.reached) for step in steps]
        self.findings.traces.append(
            MappingTrace(
                numbers=self.part.numbers,
                all_numbers=self.whole.numbers,
                label=self.part.label(mapping.attribute),
                field=self.name if mapping.fields else None,
                attribute=mapping.attribute,
                condition=mapping.condition_name,
                steps=tuple(steps),
                is_nested=self.part.prefix is not None,
            )
        )
