"""``airflow ingest init``: a first importer and its test, written from a sample file."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from airflow_provider_ingest.cli.entry import command, refuse
from airflow_provider_ingest.cli.output import print_as
from airflow_provider_ingest.cli.sampling import Column, Sample, attribute_names, read_sample

SLUG = re.compile(r"[a-z][a-z0-9_]{0,99}")

STEPS: dict[str, str] = {
    "text": "TrimTransformer()",
    "email": "TrimTransformer()",
    "integer": "NumericTransformer()",
    "decimal": "NumericTransformer()",
    "decimal_grouped": 'NumericTransformer(thousands_separator=",")',
    "decimal_comma": 'NumericTransformer(decimal_separator=",", thousands_separator=".")',
    "decimal_blank": 'NumericTransformer(thousands_separator=" ")',
    "decimal_comma_blank": 'NumericTransformer(decimal_separator=",", thousands_separator=" ")',
    "boolean": "BooleanTransformer()",
    "date": 'DateTransformer("{format}", "%Y-%m-%d", on_invalid="fail")',
}
"""The transformer of a column by its kind. Objects and arrays have none, and integers one that rounds nothing."""


@command
def init_importer(args: Any) -> None:
    """Write the two files, and say what to do with them."""
    from airflow.configuration import conf

    slug = args.name or attribute_names([Path(args.file).name.split(".")[0]]).popitem()[1]
    if not SLUG.fullmatch(slug):
        refuse(f"{slug!r} is no slug: lower-case letters, digits and _, a letter first; give one with --name.")
    sample = read_sample(args.file, args.sheet)
    directory = Path(args.directory).expanduser()
    table, conn_id = args.table or slug, args.conn_id or "ingest_target"
    contents = {
        directory / f"{_module(slug)}.py": importer_source(sample, slug, table, conn_id, args.sheet),
        directory / f"test_{slug}_importer.py": check_source(sample, slug),
    }
    for path in contents:
        if path.exists():
            refuse(f"{str(path)!r} is there already; move it away, or choose another --name or --directory.")
    directory.mkdir(parents=True, exist_ok=True)
    for path, source in contents.items():
        path.write_text(source, encoding="utf-8")
    lines = [{"column": each.name, "attribute": each.attribute, "read as": each.kind} for each in sample.columns]
    print_as(args.output, {"files": [str(path) for path in contents], "columns": lines}, lines)
    for warning in sample.warnings:
        print(f"Warning: {warning}", file=sys.stderr)
    print(f"Wrote {' and '.join(str(path) for path in contents)}.", file=sys.stderr)
    folder = conf.get("core", "dags_folder")
    print(
        f"Adapt them, run the test with pytest, and put the importer into the DAGs folder, {folder}.", file=sys.stderr
    )


def importer_source(sample: Sample, slug: str, table: str, conn_id: str, sheet: str | None = None) -> str:
    """The DAG file."""
    transformers = sorted({step.split("(")[0] for column in sample.columns for step in _steps(column)})
    validators = sorted({name for column in sample.columns for name in _validator_names(column)})
    # No type fits objects and arrays; of fields that are mapped alone, JSON may lack any, and a table none.
    expected = [column for column in sample.columns if column.kind != "json"]
    imports = ["from airflow_provider_ingest import IngestConfig, SourceType, ingest_dag"]
    if transformers:
        imports.append(_import("transformers", transformers))
    if validators:
        imports.append(_import("validators", validators))
    key = sample.key
    lines = [
        f'"""Imports {slug}; a first version that `airflow ingest init` wrote from {sample.seen:,} rows: adapt it."""',
        "",
        *imports,
        "",
        "config = (",
        f"    IngestConfig.for_({_text(table)}, conn_id={_text(conn_id)})",
        *_source(sample, sheet),
    ]
    if expected:
        lines.append(
            "    # A file may lack the columns that the sample has not filled in every row; the others it must have."
        )
        lines += ["    .expect_schema(", "        {"]
        lines += [
            f'            {_text(column.name)}: {{"type": "string", "required": {column.is_complete}}},'
            for column in expected
        ]
        lines += ["        }", "    )"]
    for column in sample.columns:
        lines += _mapping(column)
    if key is not None:
        lines.append(f"    # {_text(key.name)} was different in every row. Rows with a known key are updated.")
        lines.append(f"    .keyed_by({_text(key.attribute)})")
    else:
        lines.append(
            "    # No column was different in every row: each row is created anew. If there is a key, name it:"
        )
        lines.append('    # .keyed_by("...")')
    lines += [")", "", f"dag = ingest_dag({_text(slug)}, config)", ""]
    return "\n".join(lines)


def check_source(sample: Sample, slug: str) -> str:
    """The test of the importer: the sample's first rows are accepted."""
    rows = [f"    {_literal(row)}," for row in sample.rows]
    return "\n".join(
        [
            f'"""Tests of the importer {slug}; run them with pytest, without Airflow or a database."""',
            "",
            f"from {_module(slug)} import config",
            "",
            "from airflow_provider_ingest.testing import check_importer",
            "",
            "ROWS = [",
            *rows,
            "]",
            "",
            "",
            "def test_the_rows_of_the_sample_are_accepted():",
            "    check_importer(config, ROWS).accepts(len(ROWS))",
            "",
        ]
    )


def _module(slug: str) -> str:
    """The importer's module, which pytest must not take for one of tests."""
    return f"the_{slug}_importer" if slug.startswith("test") else f"{slug}_importer"


def _source(sample: Sample, sheet: str | None) -> list[str]:
    """How the file is read, where that is not as usual."""
    notes, options = [], ["SourceType.UPLOAD"]
    others = [_text(name) for name in sample.facts.get("sheets", ()) if name != sample.facts["sheet"]]
    if sheet:
        options.append(f"sheet={_text(sheet)}")
    elif others:
        notes.append(f"Read from the first sheet, {_text(sample.facts['sheet'])}, and not from {', '.join(others)}.")
    if sample.facts.get("has_header") is False:
        notes.append("The sample has no line of names; column_names=[...] gives its columns better ones.")
        options.append("has_header=False")
    return [*(f"    # {note}" for note in notes), f"    .from_source({', '.join(options)})"]


def _mapping(column: Column) -> list[str]:
    steps = _steps(column)
    validators = [f"{name}()" for name in _validator_names(column)]
    head = f"{_text(column.name)}, {_text(column.attribute)}"
    lines = [f"    # {note}" for note in _notes(column)]
    if steps and validators:
        lines += [
            "    .map_transform_and_validate(",
            f"        {head}, [{', '.join(steps)}], [{', '.join(validators)}]",
            "    )",
        ]
    elif steps:
        lines.append(f"    .map_and_transform({head}, {steps[0] if len(steps) == 1 else '[' + ', '.join(steps) + ']'})")
    elif validators:
        lines.append(f"    .map_and_validate({head}, {validators[0]})")
    else:
        lines.append(f"    .map({head})")
    return lines


def _steps(column: Column) -> list[str]:
    """Its transformers; only that of dates minds blanks around a value."""
    if column.kind == "json":
        return []
    step = STEPS[column.kind].format(format=column.guess.format)
    return [STEPS["text"], step] if column.kind == "date" and column.has_blanks else [step]


def _validator_names(column: Column) -> list[str]:
    names = ["RequiredValidator"] if column.is_complete else []
    return [*names, "EmailValidator"] if column.kind == "email" else names


def _notes(column: Column) -> list[str]:
    """Why the column is read so, and what else could be said of it."""
    notes = []
    if column.guess.doubt:
        notes.append(f"Kept as text: {column.guess.doubt}")
    if column.kind == "json":
        member = _text(column.name + ".member")
        notes.append(
            "Arrays, kept as JSON; nest instead of this writes their elements into a table of their own."
            if column.example.startswith("[")
            else f"Objects, kept as JSON; a member of them is a field of its own, called {member}."
        )
    if column.choices:
        notes.append(f"To allow only the values seen: InArrayValidator({_literal(list(column.choices))})")
    return notes


def _import(module: str, names: list[str]) -> str:
    line = f"from airflow_provider_ingest.{module} import {', '.join(names)}"
    if len(line) <= 110:
        return line
    return "\n".join([f"from airflow_provider_ingest.{module} import (", *[f"    {name}," for name in names], ")"])


def _text(value: str) -> str:
    """A Python string literal with double quotes, on one line, whatever the text holds."""
    shown = (
        f"\\{each}" if each in '"\\' else each if each.isprintable() else each.encode("unicode_escape").decode()
        for each in value
    )
    return f'"{"".join(shown)}"'


def _literal(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_text(name)}: {_literal(entry)}" for name, entry in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_literal(entry) for entry in value) + "]"
    return "None" if value is None else _text(str(value))
