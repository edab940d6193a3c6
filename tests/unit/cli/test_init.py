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
        (("1,234.50", "2"), "decimal_grouped"),
        (("1,234,567", "2"), "decimal_grouped"),
        (("1.234.567", "2"), "decimal_comma"),
        (("1,234", "500"), "text"),
        (("1.234", "500"), "text"),
        (("1.234", "0.125"), "decimal"),
        (("31.01.26", "01.02.26"), "date"),
        (("31.01.26", "01.02.2026"), "text"),
        (("1 234,50", "99,90"), "decimal_comma_blank"),
        (("1\u202f234,50", "99,90"), "decimal_comma_blank"),
        (("1 234.50", "99"), "decimal_blank"),
        (("030 123 456", "1 234,5"), "text"),
        (("555 123 456", "555 123 457"), "text"),
        (("a..b@c.de", "c@d.example"), "text"),
    ],
)
def test_a_column_is_text_unless_every_value_proves_otherwise(
    tmp_path: Path, values: tuple[str, ...], kind: str
) -> None:
    assert column(tmp_path, *values).kind == kind


def test_what_kept_a_column_text_is_said(tmp_path: Path) -> None:
    said = {
        ("99999", "01234"): "leading zeros",
        ("01/02/2026", "03/04/2026"): "day and month",
        ("1,234", "500"): "1,234 may be thousands or a fraction",
        ("1 234", "500"): "1 234 may be a number or a code; if these are numbers, use NumericTransformer(thousands_",
        ("2026-01-31", "31.01.2026"): "several formats",
        ("9.99", "20", "cheap"): 'most values are numbers, but not "cheap"',
        ("2026-01-31", "2026-02-01", "soon"): 'most values are dates, but not "soon"',
    }
    for values, doubt in said.items():
        assert doubt in str(column(tmp_path, *values).guess.doubt)
    assert column(tmp_path, "red", "green").guess.doubt is None


def test_the_key_is_a_column_without_repetitions_whose_name_says_so(tmp_path: Path) -> None:
    found = sample(tmp_path, "name;sku;price", "Saw;A1;1.5", "Hammer;A2;2.5")
    assert found.key.name == "sku"
    assert sample(tmp_path, "a;b", "1;x", "1;x").key is None


def test_few_repeated_values_look_like_choices(tmp_path: Path) -> None:
    assert column(tmp_path, *["red", "green"] * 10).choices == ("green", "red")


def test_attribute_names_are_names_and_different() -> None:
    names = attribute_names(["Straße", "Strasse", "2nd", "", "€", "a b", "A-B", "٣ كتاب", "ж" * 99])
    assert all(name.isidentifier() for name in names.values())
    assert len(set(names.values())) == len(names)


def test_names_of_other_scripts_are_kept_since_python_and_databases_take_them() -> None:
    names = attribute_names(["Дата рождения", "Τιμή (€)", "मूल्य", "数量", "Prix d\u2019été"])
    assert list(names.values()) == ["дата_рождения", "τιμή", "मूल्य", "数量", "prix_d_ete"]


def test_no_importer_is_in_a_file_that_pytest_takes_for_one_of_tests(tmp_path: Path) -> None:
    sample(tmp_path, "a;b", "1;2", name="things.csv")
    args = arguments(tmp_path)
    args.name = "test"
    init_importer(args)
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"the_test_importer.py", "test_test_importer.py"}


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


def written(found: Any) -> Any:
    """The definition in the importer that is written from a sample."""
    namespace: dict[str, Any] = {}
    exec(importer_source(found, "prices", "prices", "shop").partition("\ndag = ")[0], namespace)
    return namespace["config"]


SAMPLES = {
    "as usual": "SKU;Preis;PLZ;Seit;Aktiv\nA1;1,50;01234;31.01.2026;yes\nA2;1.200,5;99999;01.02.2026;\n",
    "blanks around the values": "id;day;n;mail;on\n1 ; 2026-01-31 ; 1.5 ; a@b.de ; yes \n2;2026-02-01;2;c@d.de;no\n",
    "years of two digits": "id;day\n1;31.01.26\n2;01.02.26\n",
    "addresses that are none": "id;mail\n1;a..b@c.de\n2;c@d.de\n",
    "thousands": 'id,n\n1,"1,234.50"\n2,3\n',
    "no header": "AB-00001;1.50;2026-01-31\nAB-00002;2.50;2026-02-01\n",
    "signs that cannot be printed": 'id;"a 😀\nb"\n1;"c 😀\nd"\n2;👨\u200d👩\n',
    "objects with an address": '[{"id": 1, "by": {"m": "a@b.de"}, "tags": ["x"]}, {"id": 2, "by": {"m": "c@d.de"}}]',
}


@pytest.mark.parametrize("content", SAMPLES.values(), ids=list(SAMPLES))
def test_the_written_importer_accepts_the_sample(tmp_path: Path, content: str) -> None:
    from airflow_provider_ingest.testing import check_importer

    path = tmp_path / "sample"
    path.write_text(content, encoding="utf-8")
    check_importer(written(read_sample(str(path))), str(path)).accepts(2)


def test_a_written_importer_rounds_no_number(tmp_path: Path) -> None:
    from airflow_provider_ingest.testing import check_importer

    config = written(sample(tmp_path, "name;stock", "a;1", "b;2"))
    assert check_importer(config, [{"name": "c", "stock": "1.7"}]).record(1)["stock"] == "1.7"


def test_a_file_may_lack_the_columns_that_the_sample_did_not_fill_and_no_others(tmp_path: Path) -> None:
    from airflow_provider_ingest.exceptions import SchemaMismatch
    from airflow_provider_ingest.testing import check_importer

    config = written(sample(tmp_path, "sku;name;note", "A1;Saw;", "A2;Hammer;heavy"))
    check_importer(config, [{"sku": "A3", "name": "Rake"}]).accepts(1)
    with pytest.raises(SchemaMismatch, match="name"):
        check_importer(config, [{"sku": "A3", "note": "light"}])


def test_objects_and_arrays_are_kept_with_a_word_on_what_else_can_be_done(tmp_path: Path) -> None:
    path = tmp_path / "orders.json"
    path.write_text('[{"id": 1, "by": {"mail": "a@b.de"}, "lines": [{"n": 1}]}, {"id": 2, "by": {}, "lines": []}]')
    source = importer_source(read_sample(str(path)), "orders", "orders", "shop")
    assert 'called "by.member"' in source
    assert "nest instead" in source
    assert '.map_and_validate("by", "by", RequiredValidator())' in source


def test_a_sample_without_a_header_is_read_without_one_ever_after(tmp_path: Path) -> None:
    source = importer_source(sample(tmp_path, "AB-00001;1.50", "AB-00002;2.50"), "prices", "prices", "shop")
    assert ".from_source(SourceType.UPLOAD, has_header=False)" in source


def test_of_several_sheets_one_is_taken_and_the_others_are_named(tmp_path: Path) -> None:
    from openpyxl import Workbook

    path = str(tmp_path / "report.xlsx")
    book = Workbook()
    book.active.title = "Summary"
    book.active.append(["rows", "of"])
    book.active.append([2, 2026])
    data = book.create_sheet("Data")
    for row in (("sku", "price"), ("A1", 1.5), ("A2", 2.5)):
        data.append(row)
    book.save(path)
    source = importer_source(read_sample(path), "report", "report", "shop")
    assert '# Read from the first sheet, "Summary", and not from "Data".' in source
    source = importer_source(read_sample(path, "Data"), "report", "report", "shop", "Data")
    assert '.from_source(SourceType.UPLOAD, sheet="Data")' in source
    assert '.keyed_by("sku")' in source


def test_rows_of_the_sample_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    (warning,) = sample(tmp_path, "a;b", "1;2", "3;4;5", "6;7").warnings
    assert warning.startswith("1 of 3 rows cannot be read and are left out; the first is in line 3: ")


def test_init_says_where_the_importer_belongs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from airflow.configuration import conf

    sample(tmp_path, "a;b", "1;2", name="things.csv")
    init_importer(arguments(tmp_path))
    assert f"put the importer into the DAGs folder, {conf.get('core', 'dags_folder')}." in capsys.readouterr().err


def arguments(tmp_path: Path) -> Namespace:
    """Of `airflow ingest init things.csv --directory out`."""
    return Namespace(
        file=str(tmp_path / "things.csv"), name=None, table=None, conn_id=None, sheet=None,
        directory=str(tmp_path / "out"), output="json", verbose=False,
    )  # fmt: skip


def test_files_that_are_there_are_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sample(tmp_path, "a;b", "1;2", name="things.csv")
    args = arguments(tmp_path)
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
