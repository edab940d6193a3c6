"""The importer of the orders in :mod:`tests.benchmarks.dataset`: eight validators, six transformers, twelve columns."""

from __future__ import annotations

from airflow_provider_ingest import IngestConfig, SourceType
from airflow_provider_ingest import transformers as t
from airflow_provider_ingest import validators as v

COUNTRIES = {"Germany": "DE", "France": "FR", "Spain": "ES", "Poland": "PL", "Italy": "IT"}


def orders_importer(table: str = "orders", conn_id: str = "bench") -> IngestConfig:
    """From uploads into the table, which is described in :data:`tests.benchmarks.dataset.TABLE`."""
    return (
        IngestConfig.for_(table, conn_id=conn_id)
        .from_source(SourceType.UPLOAD)
        .map_and_validate("order", "order_id", v.RequiredValidator)
        .map_and_validate("sku", "sku", v.RegexValidator(r"^AB-\d{8}$", "An SKU looks like AB-12345678."))
        .map_transform_and_validate("name", "name", [t.TrimTransformer], [v.RequiredValidator])
        .map_and_validate("email", "email", v.EmailValidator)
        .map_and_validate("category", "category", v.InArrayValidator(["Books", "Electronics", "Garden", "Toys"]))
        .map_transform_and_validate("price", "price", [t.NumericTransformer(2)], [v.RangeValidator(0.01, 10000)])
        .map_and_validate("quantity", "quantity", v.RangeValidator(1, 1000))
        .map_and_transform("active", "is_active", t.BooleanTransformer)
        .map_transform_and_validate(
            "date", "ordered_on", [t.DateTransformer("%d.%m.%Y", "%Y-%m-%d", on_invalid="fail")], [v.RequiredValidator]
        )
        .map_and_transform("country", "country", t.MapTransformer(COUNTRIES))
        .map("rating", "rating")
        .map_and_transform("note", "note", t.DefaultValueTransformer("none"))
    )
