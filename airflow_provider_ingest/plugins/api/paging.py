"""Pages of a listing: their parameters, ``links`` and ``meta``."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Query, Request

from airflow_provider_ingest.runs.records import Page

MAX_PAGE = 10_000_000
MAX_PER_PAGE = 100
PER_PAGE = 15

PageNumber = Annotated[int, Query(ge=1, le=MAX_PAGE, description="Page, from 1.")]
PageSize = Annotated[int, Query(ge=1, le=MAX_PER_PAGE, description="Items of a page.")]


def meta(page: Page[Any]) -> dict[str, Any]:
    """The ``meta`` member of a page."""
    first = (page.number - 1) * page.size + 1
    return {
        "current_page": page.number,
        "per_page": page.size,
        "last_page": page.last,
        "from": first if page.items else None,
        "to": first + len(page.items) - 1 if page.items else None,
        "total": page.total,
    }


def links(request: Request, page: Page[Any]) -> dict[str, str | None]:
    """The ``links`` member of a page: paths that keep the request's filters, right behind any proxy."""
    kept = [(name, value) for name, value in request.query_params.multi_items() if name not in ("page", "per_page")]

    def link(number: int) -> str:
        query = urlencode([*kept, ("page", number), ("per_page", page.size)])
        return f"{request.scope.get('root_path', '')}/?{query}"

    return {
        "first": link(1),
        "last": link(page.last),
        "prev": link(min(page.number - 1, page.last)) if page.number > 1 else None,
        "next": link(page.number + 1) if page.number < page.last else None,
    }
