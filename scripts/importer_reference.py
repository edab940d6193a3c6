"""Write docs/reference/importer.md from docstrings: ``python scripts/importer_reference.py``."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from airflow_provider_ingest.importers.config import IngestConfig
from airflow_provider_ingest.importers.nested import NestedConfig
from airflow_provider_ingest.importers.schema import SchemaField
from airflow_provider_ingest.importers.source import FORMAT_OPTIONS, SOURCE_OPTIONS, Source, SourceType
from airflow_provider_ingest.operators.dag_factory import ingest_dag

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "importer.md"

INTRODUCTION = """\
# Importer

An importer is an `IngestConfig`, registered under a slug by `ingest_dag(slug, config)` in a file of the DAGs folder.
Configs are immutable: every method returns a new one. What cannot work raises `ConfigError` where it is written, with
the way out.

This page is made from the docstrings by `python scripts/importer_reference.py`.
"""


def main() -> None:
    """Write the page."""
    PAGE.write_text(page())


def page() -> str:
    """The page as it should be."""
    parts = [INTRODUCTION, "## `ingest_dag`\n", function("ingest_dag", ingest_dag)]
    parts += [f"## `{IngestConfig.__name__}`\n", prose(IngestConfig), *methods(IngestConfig)]
    parts += ["## `NestedConfig`\n", prose(NestedConfig), "It has the mapping methods of `IngestConfig` too.\n"]
    parts += [function("for_", NestedConfig.for_, "NestedConfig.")]
    parts += ["## `SchemaField`\n", prose(SchemaField), "## Sources\n", sources(), "## `Source`\n", prose(Source)]
    parts += [
        function(name, getattr(Source, name), "Source.") for name in ("read", "get_schema", "get_source_metadata")
    ]
    return "\n".join(parts).rstrip() + "\n"


def methods(kind: type) -> list[str]:
    """All public methods in the order in which they are written, those of the base first."""
    names = [name for base in reversed(kind.__mro__) for name in vars(base) if not name.startswith("_")]
    public = [name for name in dict.fromkeys(names) if callable(getattr(kind, name))]
    return [function(name, getattr(kind, name), f"{kind.__name__}.") for name in public]


def function(name: str, of: object, owner: str = "") -> str:
    """One function: its signature without the types, and its docstring."""
    signature = inspect.signature(of)  # type: ignore[arg-type]
    parameters = [one.replace(annotation=inspect.Parameter.empty) for one in signature.parameters.values()]
    shown = str(signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty))
    shown = re.sub(r"<DuplicateStrategy\.(\w+): '\w+'>", r"DuplicateStrategy.\1", shown.replace("(self, ", "("))
    return f"### `{owner}{name}{shown.replace('(self)', '()')}`\n\n{prose(of)}"


def prose(of: object) -> str:
    """A docstring as Markdown: parameters as a list, examples as code."""
    lines: list[str] = []
    is_code = False
    for line in inspect.cleandoc(of.__doc__ or "").splitlines():
        starts = line.startswith((">>> ", "... "))
        if starts and not is_code:
            lines.append("```pycon")
        elif is_code and not line:
            lines.append("```")
        is_code = starts or (is_code and bool(line))
        if is_code:
            lines.append(line.replace("  # doctest: +SKIP", ""))
            continue
        line = re.sub(r":(?:class|meth|mod|data|attr):`~?(?:[\w.]+\.)?(\w+)`", r"`\1`", line.replace("``", "`"))
        line = re.sub(r"^:param (\w+): ?", r"* `\1`: ", line)
        lines.append(re.sub(r"^:raises (\w+): ?", r"* raises `\1`: ", line))
    return "\n".join([*lines, "```"] if is_code else lines) + "\n"


def sources() -> str:
    """The table of the built-in sources."""
    rows = ["| `SourceType` | required options | optional options |", "|---|---|---|"]
    for kind, (required, optional) in SOURCE_OPTIONS.items():
        cells = [", ".join(f"`{name}`" for name in sorted(names)) or "–" for names in (required, optional)]
        rows.append(f"| `{SourceType(kind).name}` | {cells[0]} | {cells[1]} |")
    named = ", ".join(f"`{name}`" for name in sorted(FORMAT_OPTIONS))
    return "\n".join(
        [*rows, "", f"Every source also takes how to read its file, where that is not to be found out: {named}.\n"]
    )


if __name__ == "__main__":
    main()
