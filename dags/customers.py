"""Customers from a file on a disk: every field is checked, existing addresses are left alone."""

from shop_tables import Customer

from airflow_provider_ingest import DuplicateStrategy, IngestConfig, SourceType, ingest_dag
from airflow_provider_ingest.transformers import BooleanTransformer, MapTransformer, NumericTransformer, TrimTransformer
from airflow_provider_ingest.validators import DateValidator, EmailValidator, RangeValidator, RequiredValidator

COUNTRIES = {"Germany": "DE", "Deutschland": "DE", "France": "FR", "Spain": "ES", "Poland": "PL"}


def lower(value):
    """Addresses differ in case only by accident."""
    return value.lower() if value else value


config = (
    IngestConfig.for_(Customer, conn_id="demo_db")
    .from_source(SourceType.FILESYSTEM, disk="demo_files", path="customers.csv")
    .map_transform_and_validate("email", "email", [TrimTransformer, lower], [RequiredValidator, EmailValidator])
    .map_transform_and_validate(["name", "full name"], "full_name", [TrimTransformer], [RequiredValidator])
    .map_transform_and_validate("country", "country", [MapTransformer(COUNTRIES)], [RequiredValidator])
    .map_and_validate("birth_date", "birth_date", DateValidator("%Y-%m-%d"))
    .map_and_transform("newsletter", "newsletter", BooleanTransformer(default=0))
    .map_transform_and_validate(
        "credit_limit",
        "credit_limit",
        [NumericTransformer(2, decimal_separator=",", thousands_separator=".")],
        [RangeValidator(0, 50000, "The credit limit lies between 0 and 50,000.")],
    )
    .keyed_by("email", on_duplicate=DuplicateStrategy.SKIP)
    .log_rows("failed")
)

dag = ingest_dag("customers", config)
