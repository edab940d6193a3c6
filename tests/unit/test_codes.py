"""Programs act on codes: each that the service can answer with is on the page of the REST API."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "airflow_provider_ingest"
CODE = re.compile("[a-z_]+")

NEVER_SHOWN = {
    "ingest_error", "conflict", "bad_request",  # every error has a narrower one
    "config_error", "settings_error",  # in logs and where a definition is written
    "already_planned", "illegal_transition",  # between tasks
    "takes_no_file",  # on the command line, which prints messages alone
}  # fmt: skip


def codes(tree: ast.AST) -> Iterator[str]:
    """Texts that stand where codes do: `code=…`, `"code": …`, `X_CODE = …` and the second argument of a conflict."""
    for node in ast.walk(tree):
        values: list[ast.expr | None] = []
        match node:
            case ast.keyword(arg="code"):
                values = [node.value]
            case ast.Dict():
                values = [value for key, value in zip(node.keys, node.values, strict=True) if _is(key, "code")]
            case ast.Assign(targets=[ast.Name(id="code")]) | ast.AnnAssign(target=ast.Name(id="code")):
                values = [node.value]
            case ast.Call(func=ast.Name(id="Conflict")):
                values = list(node.args[1:2])
            case ast.Call(func=ast.Name(id="_refusal" | "refusals" | "Refusal")):
                values = list(node.args[1:])
        for value in values:
            if isinstance(value, ast.Constant) and isinstance(value.value, str) and CODE.fullmatch(value.value):
                yield value.value


def _is(key: ast.expr | None, name: str) -> bool:
    return isinstance(key, ast.Constant) and key.value == name


def test_every_code_is_on_the_page_of_the_rest_api() -> None:
    page = (ROOT / "docs" / "reference" / "rest.md").read_text() + (ROOT / "docs/reference/validators.md").read_text()
    listed = set(re.findall("`([a-z_]+)`", page))
    found = {code for path in PACKAGE.rglob("*.py") for code in codes(ast.parse(path.read_text()))}
    assert {"run_not_finished", "too_long", "transform_error", "target_error", "dag_run_lost"} <= found
    assert sorted(found - NEVER_SHOWN - listed) == []
