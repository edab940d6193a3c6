"""One mapping over a stretch of rows: transformers, validators, and the conversion to the target's column."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping as MappingABC
from contextlib import contextmanager
from dataclasses import dataclass, field

import polars as pl

from airflow_provider_ingest.engine.convert import Conversion
from airflow_provider_ingest.engine.distinct import Memory, Verdict, Worked, distinct_of
from airflow_provider_ingest.engine.failures import refused_rows
from airflow_provider_ingest.engine.kinds import typed
from airflow_provider_ingest.engine.stretch import Located, Stretch
from airflow_provider_ingest.engine.trace import HIDDEN, INPUT, MappingTrace, Step
from airflow_provider_ingest.exceptions import RunFailed
from airflow_provider_ingest.importers.mapping import Mapping
from airflow_provider_ingest.runs.failure import Stage
from airflow_provider_ingest.runs.frames import Kind
from airflow_provider_ingest.transformers.base import Refusal, Rows, ScalarTransformer, Transformer
from airflow_provider_ingest.transformers.scalar import apply_transformer
from airflow_provider_ingest.transformers.values import sure
from airflow_provider_ingest.validators.base import ScalarValidator
from airflow_provider_ingest.validators.scalar import apply_validator

NO_ROWS = Rows(pl.DataFrame(), pl.Series([], dtype=pl.Int64))
"""What steps get beside the distinct values of a column: they said that they look at nothing else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MappedColumn:
    """A mapping as compiled: where it goes, and whether its values may be shown."""

    mapping: Mapping
    convert: Conversion
    is_sensitive: bool

    @property
    def is_elementwise(self) -> bool:
        """Whether every step looks at its value alone, so that equal values need to be worked once only."""
        return all(
            not step.uses_row if isinstance(step, ScalarTransformer | ScalarValidator) else step.is_elementwise
            for step in (*self.mapping.transformers, *self.mapping.validators)
        )


@dataclass(slots=True)
class Findings:
    """What working a batch brings up beside the values.

    :param bad: rows refused by the expected schema, by source column: their values are not looked at again.
    :param memory: of distinct values, for as long as the same importer's rows are worked.
    """

    is_traced: bool = False
    bad: MappingABC[str, pl.Series] = field(default_factory=dict)
    failures: list[pl.DataFrame] = field(default_factory=list)
    traces: list[MappingTrace] = field(default_factory=list)
    memory: Memory = field(default_factory=Memory)


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
        is_whole = findings.is_traced or not column.is_elementwise
        before = findings.memory.columns.get(id(column))
        self.distinct = None if is_whole else distinct_of(self.raw, before)
        self.verdicts: list[Verdict] = []
        self.input = self.raw if self.distinct is None else self.distinct.values

    def values(self) -> pl.Series:
        distinct = self.distinct
        if distinct is None:
            return self._worked()
        if distinct.worked is not None:
            for verdict in distinct.worked.verdicts:
                self._note(verdict)
            return distinct.spread(distinct.worked.converted)
        converted = self._worked()
        worked = Worked(values=distinct.values, converted=converted, verdicts=tuple(self.verdicts))
        self.findings.memory.columns[id(self.column)] = worked
        return distinct.spread(converted)

    def _worked(self) -> pl.Series:
        mapping = self.column.mapping
        current = self._transformed()
        if mapping.validators:
            checked = current if mapping.transformers else typed(self.input, self.part.kind(self.located))
            for validator in mapping.validators:
                rows = self._rows(is_typed=isinstance(validator, ScalarValidator))
                with _users_code(validator.name, mapping.attribute):
                    refused = apply_validator(validator, checked, rows)
                self._refuse(refused, Stage.VALIDATE, keep_going=True)
        converted, refused = self.column.convert(current, may_hold_nul=self._may_hold_nul)
        self._refuse(refused, Stage.VALIDATE)
        return converted

    @property
    def _may_hold_nul(self) -> bool:
        """Whether a text may hold NUL now; the reader may have looked, for all columns at once."""
        is_plain = self.located is not None and self.located.path is None  # JSON escapes NUL
        steps = self.column.mapping.transformers
        is_cut = all(isinstance(step, Transformer) and step.cuts_only for step in steps)
        return self.part.may_hold_nul or not (is_plain and is_cut)

    def _rows(self, *, is_typed: bool) -> Rows:
        if self.distinct is not None:
            return NO_ROWS
        return self.part.typed_rows if is_typed else self.part.rows

    def _transformed(self) -> pl.Series:
        mapping, part = self.column.mapping, self.part
        kind = part.kind(self.located)
        steps: list[Step] = []
        current = self.input
        if mapping.transformers and not (kind is Kind.NUMBER and isinstance(mapping.transformers[0], Transformer)):
            current = typed(self.input, kind)  # a columnar first step reads numbers from their exact text
        if self.findings.is_traced and mapping.fields:
            steps.append(Step(name=INPUT, values=self.raw))
        for step in mapping.transformers:
            rows = self._rows(is_typed=isinstance(step, ScalarTransformer))
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
        verdict = (stage, keep_going, tuple(refusal for refusal in refused if refusal.rows.any()))
        self.verdicts.append(verdict)
        self._note(verdict)

    def _note(self, verdict: Verdict) -> None:
        """Note the rows that a step refuses, except those that have failed in this mapping before."""
        stage, keep_going, refused = verdict
        if not keep_going:
            self._settle()
        for refusal in refused:
            if self.distinct is not None:
                refusal = self.distinct.refusal(refusal)
            rows = sure(refusal.rows)
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
