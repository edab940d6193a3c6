"""``airflow ingest init``: a first importer and its test, written from a sample file."""

from __future__ import annotations

import json
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
    "integer": "NumericTransformer(0)",
    "decimal": "NumericTransformer()",
    "decimal_comma": 'NumericTransformer(decimal_separator=",", thousands_separator=".")',
    "boolean": "BooleanTransformer()",
    "date": 'DateTransformer("{format}", "%Y-%m-%d", on_invalid="fail")',
}
"""The transformer of a column by its kind."""


@command
def init_importer(args: Any) -> None:
    """Write the two files, and say what to do with them."""
    slug = args.name or attribute_names([Path(args.file).name.split(".")[0]]).popitem()[1]
    if not SLUG.fullmatch(slug):
        refuse(f"{slug!r} is no slug: lower-case letters, digits and _, a letter first; give one with --name.")
    sample = read_sample(args.file)
    directory = Path(args.directory).expanduser()
    table, conn_id = args.table or slug, args.conn_id or "ingest_target"
    contents = {
        directory / f"{slug}_importer.py": importer_source(sample, slug, table, conn_id),
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
    print(f"Wrote {' and '.join(str(path) for path in contents)}; adapt them, then run the test.", file=sys.stderr)


def importer_source(sample: Sample, slug: str, table: str, conn_id: str) -> str:
    """The DAG file."""
    transformers = sorted({STEPS[column.kind].split("(")[0] for column in sample.columns})
    validators = sorted({name for column in sample.columns for name in _validator_names(column)})
    required = {column.name: {"type": "string", "required": True} for column in sample.columns if column.is_complete}
    imports = ["from airflow_provider_ingest import IngestConfig, SourceType, ingest_dag"]
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
        "    .from_source(SourceType.UPLOAD)",
    ]
    if required:
        lines.append("    # The file must have these columns; the others may be missing.")
        lines.append("    .expect_schema(")
        lines.append("        {")
        lines += [f'            {_text(name)}: {{"type": "string", "required": True}},' for name in required]
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
    module = f"{slug}_importer"
    return "\n".join(
        [
            f'"""Tests of the importer {slug}; run them with pytest, without Airflow or a database."""',
            "",
            f"from {module} import config",
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


def _mapping(column: Column) -> list[str]:
    step = STEPS[column.kind].format(format=column.format)
    validators = [f"{name}()" for name in _validator_names(column)]
    field, attribute = _text(column.name), _text(column.attribute)
    lines = [f"    # {note}" for note in _notes(column)]
    if validators:
        lines += [
            "    .map_transform_and_validate(",
            f"        {field}, {attribute}, [{step}], [{', '.join(validators)}]",
            "    )",
        ]
    else:
        lines.append(f"    .map_and_transform({field}, {attribute}, {step})")
    return lines


def _validator_names(column: Column) -> list[str]:
    names = ["RequiredValidator"] if column.is_complete else []
    return [*names, "EmailValidator"] if column.kind == "email" else names


def _notes(column: Column) -> list[str]:
    """Why the column is read so, and what else could be said of it."""
    notes = []
    if column.has_leading_zeros:
        notes.append("Kept as text: leading zeros.")
    if column.is_ambiguous_date:
        notes.append("Kept as text: day and month cannot be told apart; if these are dates, use DateTransformer.")
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
    return json.dumps(value, ensure_ascii=not value.isprintable())


def _literal(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_text(name)}: {_literal(entry)}" for name, entry in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_literal(entry) for entry in value) + "]"
    return "None" if value is None else _text(str(value))
