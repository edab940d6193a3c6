from __future__ import annotations

import ast
import json
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest

from airflow_provider_ingest.cli.init import check_source, importer_source, init_importer
from airflow_provider_ingest.cli.sampling import Column, attribute_names, read_sample

HOSTILE = 'a"b\\n\n"""\u202e#{x}'


def sample(tmp_path: Path, *lines: str, name: str = "sample.csv") -> Any:
    path = tmp_path / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read_sample(str(path))


def kinds(tmp_path: Path, *lines: str) -> dict[str, str]:
    return {column.name: column.kind for column in sample(tmp_path, *lines).columns}


def column(tmp_path: Path, *values: str) -> Column:
    return sample(tmp_path, "n;value", *(f"{n};{value}" for n, value in enumerate(values))).columns[1]  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (("1", "20", "-3"), "integer"),
        (("01", "20", "3"), "text"),
        (("1.5", "2", "-0.25"), "decimal"),
        (("1,5", "2,00", "1.234,50"), "decimal_comma"),
        (("1.5", "x", "2"), "text"),
        (("yes", "No", "YES"), "boolean"),
        (("1", "0", "1"), "integer"),
        (("31.01.2026", "01.02.2026"), "date"),
        (("2026-01-31", "2026-02-01"), "date"),
        (("01/02/2026", "03/04/2026"), "text"),
        (("31/02/2026", "03/04/2026"), "text"),
        (("31/01/2026", "03/04/2026"), "date"),
        (("a@b.de", "c@d.example"), "email"),
        (("", ""), "text"),
        (("1e5", "2e6"), "text"),
        (("12345678901234567890", "1"), "decimal"),
    ],
)
def test_a_column_is_text_unless_every_value_proves_otherwise(
    tmp_path: Path, values: tuple[str, ...], kind: str
) -> None:
    assert column(tmp_path, *values).kind == kind


def test_what_kept_a_column_text_is_said(tmp_path: Path) -> None:
    assert column(tmp_path, "99999", "01234").has_leading_zeros
    assert column(tmp_path, "01/02/2026", "03/04/2026").is_ambiguous_date


def test_the_key_is_a_column_without_repetitions_whose_name_says_so(tmp_path: Path) -> None:
    found = sample(tmp_path, "name;sku;price", "Saw;A1;1.5", "Hammer;A2;2.5")
    assert found.key.name == "sku"
    assert sample(tmp_path, "a;b", "1;x", "1;x").key is None


def test_few_repeated_values_look_like_choices(tmp_path: Path) -> None:
    assert column(tmp_path, *["red", "green"] * 10).choices == ("green", "red")


def test_attribute_names_are_names_and_different() -> None:
    names = attribute_names(["Straße", "Strasse", "2nd", "", "€", "a b", "A-B"])
    assert all(name.isidentifier() for name in names.values())
    assert len(set(names.values())) == len(names)


def test_the_written_files_are_python_whatever_the_columns_are_called(tmp_path: Path) -> None:
    path = tmp_path / "hostile.json"
    path.write_text(json.dumps([{HOSTILE: HOSTILE, "class": "1", "x": None}, {HOSTILE: "b", "class": "2", "x": None}]))
    found = read_sample(str(path))
    for source in (importer_source(found, "hostile", "t", "c"), check_source(found, "hostile")):
        ast.parse(source)
    assert ast.literal_eval(_assigned(check_source(found, "hostile"), "ROWS"))[0][HOSTILE] == HOSTILE


def test_the_written_importer_is_a_complete_definition(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from airflow_provider_ingest.importers.manifest import Manifest

    found = sample(tmp_path, "SKU;Preis;PLZ;Seit;Aktiv", "A1;1,50;01234;31.01.2026;yes", "A2;2;99999;01.02.2026;no")
    source = importer_source(found, "prices", "public.prices", "shop").partition("\ndag = ")[0]
    namespace: dict[str, Any] = {}
    exec(compile(source, "prices_importer.py", "exec"), namespace)
    manifest = Manifest.of(namespace["config"], "prices")
    assert manifest.attributes == ("sku", "preis", "plz", "seit", "aktiv")
    assert manifest.document["key"]["attributes"] == ["sku"]
    assert (manifest.target_label, manifest.conn_id) == ("public.prices", "shop")


def test_the_written_importer_accepts_the_sample(tmp_path: Path) -> None:
    from airflow_provider_ingest.testing import check_importer

    found = sample(tmp_path, "SKU;Preis;PLZ;Seit;Aktiv", "A1;1,50;01234;31.01.2026;yes", "A2;1.200,5;99999;01.02.2026;")
    namespace: dict[str, Any] = {}
    exec(importer_source(found, "prices", "prices", "shop").partition("\ndag = ")[0], namespace)
    check_importer(namespace["config"], list(found.rows)).accepts(2)


def test_files_that_are_there_are_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sample(tmp_path, "a;b", "1;2", name="things.csv")
    args = Namespace(
        file=str(tmp_path / "things.csv"), name=None, table=None, conn_id=None, directory=str(tmp_path / "out"),
        output="json", verbose=False,
    )  # fmt: skip
    init_importer(args)
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"things_importer.py", "test_things_importer.py"}
    with pytest.raises(SystemExit) as end:
        init_importer(args)
    assert end.value.code == 1
    assert "is there already" in capsys.readouterr().err


@pytest.mark.parametrize(("content", "message"), [("", "The file is empty"), ("a;b\n", "no rows")])
def test_a_sample_without_rows_is_refused(
    tmp_path: Path, content: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from airflow_provider_ingest.exceptions import InvalidParameter

    path = tmp_path / "empty.csv"
    path.write_text(content)
    with pytest.raises(InvalidParameter, match=message):
        read_sample(str(path))
    with pytest.raises(InvalidParameter, match="no file"):
        read_sample(str(tmp_path / "nothing.csv"))


def _assigned(source: str, name: str) -> ast.expr:
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) == name:
            return node.value
    raise AssertionError(name)
