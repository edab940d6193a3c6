"""The test kit for importers, used as a user's test would."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import ForeignKey, Numeric, String
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

from airflow_provider_ingest import IngestConfig, SourceType
from airflow_provider_ingest.exceptions import ConfigError, SchemaMismatch
from airflow_provider_ingest.testing import check_importer
from airflow_provider_ingest.transformers import NumericTransformer
from airflow_provider_ingest.validators import EmailValidator, RequiredValidator


class Base(DeclarativeBase):
    pass


class Person(Base):
    __tablename__ = "people"
    id: Mapped[int] = mapped_column(primary_key=True)
    email: Mapped[str] = mapped_column(String(20))
    limit: Mapped[float | None] = mapped_column(Numeric(6, 2))
    boss_id: Mapped[int | None] = mapped_column(ForeignKey("people.id"))
    phones: Mapped[list[Phone]] = relationship()


class Phone(Base):
    __tablename__ = "phones"
    id: Mapped[int] = mapped_column(primary_key=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id"))
    number: Mapped[str] = mapped_column(String(10))


CONFIG = (
    IngestConfig.for_(Person, conn_id="shop")
    .from_source(SourceType.UPLOAD)
    .map_and_validate("mail", "email", [RequiredValidator, EmailValidator])
    .map_and_transform("limit", "limit", NumericTransformer(2))
)


def test_a_file_is_checked_against_the_types_of_the_class(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("mail,limit\na@x.org,1.005\nno,2\na.very.long.name@x.org,3\nb@x.org,99999\nc@x.org\n")
    check = check_importer(CONFIG, file).accepts(1).rejects(4)
    check.rejects(row=2, code="email").rejects(row=3, code="too_long", field="mail").rejects(row=4, code="out_of_range")
    check.rejects(row=5, code="malformed_row")
    assert str(check.record(1)["limit"]) == "1.01"


def test_rows_are_checked_without_a_file() -> None:
    check_importer(CONFIG, [{"mail": "a@x.org", "limit": 1}, {"mail": None}]).accepts(1).rejects(row=2, code="required")


def test_a_relation_takes_every_key_unless_the_known_ones_are_given() -> None:
    config = CONFIG.relate("boss", "boss_id", Person, key="email")
    rows = [{"mail": "a@x.org", "limit": 1, "boss": "b@x.org"}, {"mail": "a@x.org", "limit": 1, "boss": "c@x.org"}]
    check_importer(config, rows).accepts(2)
    check = check_importer(config, rows, known={"boss_id": {"b@x.org": 7}}).rejects(row=2, code="not_found")
    assert check.record(1)["boss_id"] == 7


def test_nested_collections_are_checked_too() -> None:
    config = CONFIG.nest("phones", lambda nested: nested.map("number", "number"))
    rows = [{"mail": "a@x.org", "limit": 1, "phones": [{"number": "1"}, {"number": "12345678901"}]}]
    check_importer(config, rows).accepts(0).rejects(row=1, field="phones[1].number", code="too_long")


def test_a_wrong_expectation_says_what_happened_instead() -> None:
    check = check_importer(CONFIG, [{"mail": "no", "limit": 1}])
    with pytest.raises(AssertionError, match=r"0 rows pass, not 1; failures: row 1 mail email"):
        check.accepts(1)
    with pytest.raises(AssertionError, match="1 rows fail, not 2"):
        check.rejects(2)
    with pytest.raises(AssertionError, match=r"No failure has row=1, code='range'; failures: row 1 mail email"):
        check.rejects(row=1, code="range")
    with pytest.raises(AssertionError, match="Row 1 gives no record: row 1 mail email"):
        check.record(1)


def test_a_wrong_header_is_found(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("Mail,limit\na@x.org,1\n")
    with pytest.raises(SchemaMismatch, match='Did you mean "Mail"'):
        check_importer(CONFIG, file)


def test_an_incomplete_definition_is_refused() -> None:
    with pytest.raises(ConfigError, match="no source"):
        check_importer(IngestConfig.for_(Person, "c").map("mail", "email"), [])


def test_a_table_known_by_name_takes_any_text() -> None:
    config = IngestConfig.for_("people", "c").from_source("upload").map("a", "a")
    assert check_importer(config, [{"a": " x "}]).record(1) == {"a": " x "}
