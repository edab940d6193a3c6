"""Products from an uploaded file: known SKUs are updated, new ones created."""

from shop_tables import Product

from airflow_provider_ingest import DuplicateStrategy, IngestConfig, SourceType, ingest_dag
from airflow_provider_ingest.transformers import (
    BooleanTransformer,
    DateTransformer,
    DefaultValueTransformer,
    NumericTransformer,
    SlugTransformer,
    TrimTransformer,
)
from airflow_provider_ingest.validators import InArrayValidator, RangeValidator, RegexValidator, RequiredValidator

config = (
    IngestConfig.for_(Product, conn_id="demo_db")
    .from_source(SourceType.UPLOAD)
    .expect_schema({"sku": {"type": "string", "required": True}, "price": {"type": "string", "required": True}})
    .map_transform_and_validate(
        ["sku", "article"],
        "sku",
        [TrimTransformer],
        [RequiredValidator, RegexValidator(r"^[A-Z]{2}-\d{5}$", "An SKU looks like AB-12345.")],
    )
    .map_transform_and_validate("name", "name", [TrimTransformer], [RequiredValidator])
    .map_and_transform("name", "slug", [SlugTransformer])
    .map_and_validate("category", "category", InArrayValidator(["Books", "Electronics", "Garden", "Toys"]))
    .map_transform_and_validate(
        "price", "price", [NumericTransformer(2)], [RequiredValidator, RangeValidator(0.01, 10000)]
    )
    .map_and_transform("stock", "stock", [DefaultValueTransformer(0), NumericTransformer(0)])
    .map_and_transform("active", "is_active", BooleanTransformer(default=1))
    .map_and_transform("released", "released", DateTransformer("%d.%m.%Y", "%Y-%m-%d", on_invalid="fail"))
    .keyed_by("sku", on_duplicate=DuplicateStrategy.UPDATE)
)

dag = ingest_dag("products", config)
