"""django-import-export: a resource with widgets that check and convert, in its bulk mode."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import django
from django.conf import settings
from django.core.exceptions import ValidationError

settings.configure(
    INSTALLED_APPS=["import_export"],
    DATABASES={"default": {"ENGINE": "django.db.backends.postgresql"}},
    USE_TZ=True,
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
)
django.setup()

import tablib  # noqa: E402
from django.db import connections, models  # noqa: E402
from import_export import fields, resources, widgets  # noqa: E402
from rules import CATEGORIES, CENT, COUNTRIES, EMAIL, FLAGS, HIGHEST, LOWEST, SKU, as_date  # noqa: E402

BATCH = 5_000


class Order(models.Model):
    """The table that is there already."""

    order_id = models.IntegerField(primary_key=True)
    sku = models.CharField(max_length=12)
    name = models.CharField(max_length=80)
    email = models.CharField(max_length=120)
    category = models.CharField(max_length=20)
    price = models.DecimalField(max_digits=10, decimal_places=2)
    quantity = models.IntegerField()
    is_active = models.BooleanField()
    ordered_on = models.DateField()
    country = models.CharField(max_length=2)
    rating = models.FloatField(null=True)
    note = models.TextField(null=True)

    class Meta:
        app_label = "orders"
        db_table = "orders"
        managed = False


def cleaned_by(clean: Any) -> Any:
    """A widget that converts by a function; a ValueError is shown at the field."""

    class Cleaned(widgets.Widget):
        def clean(self, value: Any, row: Any = None, **kwargs: Any) -> Any:
            return clean(value)

    return Cleaned()


def matching(matches: Any, message: str) -> Any:
    """A widget for a text that must match."""

    def clean(value: str) -> str:
        if not matches(value):
            raise ValueError(message)
        return value

    return cleaned_by(clean)


def between(convert: Any, lowest: Any, highest: Any) -> Any:
    """A widget for a number within limits."""

    def clean(value: str) -> Any:
        number = convert(value)
        if not lowest <= number <= highest:
            raise ValueError("is out of range")
        return number

    return cleaned_by(clean)


def price(value: str) -> Any:
    """Two digits."""
    try:
        return Decimal(value).quantize(CENT)
    except InvalidOperation:
        raise ValueError("is no number") from None


def name(value: str) -> str:
    """Trimmed, and there."""
    if not (trimmed := value.strip()):
        raise ValueError("is required")
    return trimmed


def flag(value: str) -> bool:
    """Yes or no."""
    if value not in FLAGS:
        raise ValueError("is neither yes nor no")
    return FLAGS[value]


class OrderResource(resources.ModelResource):
    """What its guide to bulk imports advises: no diffs, no look-ups of instances that are not there."""

    order_id = fields.Field("order_id", "order", widget=cleaned_by(int))
    sku = fields.Field("sku", "sku", widget=matching(SKU, "An SKU looks like AB-12345678."))
    name = fields.Field("name", "name", widget=cleaned_by(name))
    email = fields.Field("email", "email", widget=matching(EMAIL, "is no e-mail address"))
    category = fields.Field("category", "category", widget=matching(CATEGORIES.__contains__, "is no category"))
    price = fields.Field("price", "price", widget=between(price, LOWEST, HIGHEST))
    quantity = fields.Field("quantity", "quantity", widget=between(int, 1, 1000))
    is_active = fields.Field("is_active", "active", widget=cleaned_by(flag))
    ordered_on = fields.Field("ordered_on", "date", widget=cleaned_by(as_date))
    country = fields.Field("country", "country", widget=cleaned_by(lambda value: COUNTRIES.get(value, value)))
    rating = fields.Field("rating", "rating", widget=cleaned_by(lambda value: float(value) if value else None))
    note = fields.Field("note", "note", widget=cleaned_by(lambda value: value or "none"))

    class Meta:
        model = Order
        import_id_fields = ("order_id",)
        use_bulk = True
        batch_size = BATCH
        force_init_instance = True
        skip_diff = True
        skip_html_diff = True
        report_skipped = False
        use_transactions = True


def bulk(dsn: str, path: Path) -> int:
    """Invalid rows are left out, with their errors in the result; the others are created in bulk."""
    parts = urlsplit(dsn)
    connections["default"].close()
    connections["default"].settings_dict |= {
        "NAME": parts.path.lstrip("/"),
        "USER": parts.username,
        "HOST": parts.hostname or parse_qs(parts.query)["host"][0],
        "PORT": parts.port or "",
    }
    with path.open(newline="", encoding="utf-8") as file:
        rows = tablib.Dataset().load(file, format="csv")
    result = OrderResource().import_data(rows, use_transactions=True, raise_errors=False)
    if result.has_errors():
        raise ValidationError(str(result.row_errors()[:1] or result.base_errors))
    connections["default"].close()
    return int(result.totals["invalid"])
