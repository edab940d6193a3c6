"""The OpenAPI document and the pages' modules: behind the same guard as everything else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, JSONResponse
from starlette.exceptions import HTTPException

from airflow_provider_ingest.plugins.api import documents

router = APIRouter(include_in_schema=False)

PAGES = Path(__file__).parents[2] / "www"
TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


@router.get("/openapi.json")
def openapi_document(request: Request) -> JSONResponse:
    """The API's description."""
    return JSONResponse(documents.openapi(request.app, request.scope.get("root_path", "")))


@router.get("/static/{version}/{path:path}")
def page_module(version: str, path: str) -> Any:
    """A module of the pages; its path changes with each version, so that it can be cached for ever."""
    try:
        file = (PAGES / path).resolve()
        is_there = file.is_relative_to(PAGES) and file.suffix in TYPES and file.is_file()
    except (ValueError, OSError):  # a name that no file can have
        is_there = False
    if not is_there:
        raise HTTPException(404, "There is no such file.")
    headers = {"Cache-Control": "private, max-age=31536000, immutable"}
    return FileResponse(file, media_type=TYPES[file.suffix], headers=headers)
