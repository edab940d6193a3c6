"""Finding the files that define importers, by their text: nothing of them is run."""

from __future__ import annotations

import ast
from pathlib import Path


def importer_files() -> dict[str, list[str]]:
    """The DAG files that define an importer, by its slug, as far as this machine has them."""
    from airflow.dag_processing.bundles.manager import DagBundlesManager
    from airflow.exceptions import AirflowException
    from airflow.utils.file import list_py_file_paths

    found: dict[str, list[str]] = {}
    try:
        folders = [Path(bundle.path) for bundle in DagBundlesManager().get_all_dag_bundles()]
    except AirflowException:  # a bundle that only the DAG processor can reach
        return found
    for folder in folders:
        for path in sorted(map(Path, list_py_file_paths(folder))):
            if path.suffix == ".py":
                for slug in sorted(slugs_in(path.read_text(encoding="utf-8", errors="replace"))):
                    found.setdefault(slug, []).append(str(path.relative_to(folder)))
    return found


def slugs_in(source: str) -> set[str]:
    r"""The slugs that a file gives to ``ingest_dag`` as texts; those that it works out are not known.

    >>> slugs_in('dag = ingest_dag("goods", config)\nother = ingest_dag(name, config)')
    {'goods'}
    """
    if "ingest_dag" not in source:
        return set()
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):  # Airflow says so itself
        return set()
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _name(node.func) == "ingest_dag"]
    given = [_slug(call) for call in calls]
    return {slug.value for slug in given if isinstance(slug, ast.Constant) and isinstance(slug.value, str)}


def _name(called: ast.expr) -> str | None:
    if isinstance(called, ast.Attribute):
        return called.attr
    return called.id if isinstance(called, ast.Name) else None


def _slug(call: ast.Call) -> ast.expr | None:
    if call.args:
        return call.args[0]
    return next((keyword.value for keyword in call.keywords if keyword.arg == "slug"), None)
