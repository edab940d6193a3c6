"""Orders of known customers: only what was shipped has a tracking code."""

from shop_tables import Customer, Order

from airflow_provider_ingest import IngestConfig, SourceType, ingest_dag
from airflow_provider_ingest.transformers import NumericTransformer, TrimTransformer
from airflow_provider_ingest.validators import InArrayValidator, RangeValidator, RegexValidator, RequiredValidator

config = (
    IngestConfig.for_(Order, conn_id="demo_db")
    .from_source(SourceType.FILESYSTEM, disk="demo_files", path="orders.csv")
    .map_and_validate("order", "number", RegexValidator(r"^O-\d{6}$", "An order number looks like O-123456."))
    .relate("customer", "customer_id", Customer, key="email")
    .map_and_validate("status", "status", InArrayValidator(["open", "paid", "shipped"]))
    .map_transform_and_validate("total", "total", [NumericTransformer(2)], [RangeValidator(min=0)])
    .map_and_validate("ordered_at", "ordered_at", RequiredValidator)
    .map_when("tracking", "tracking_code", lambda row: row["status"] == "shipped", TrimTransformer, RequiredValidator)
    .keyed_by("number")
    .with_tracing()
)

dag = ingest_dag("orders", config)
