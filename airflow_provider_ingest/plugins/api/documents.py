"""What the routes add to the OpenAPI document: problem answers, bodies that are read by hand, file downloads."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from airflow_provider_ingest.plugins.api import datamodels

DESCRIPTION = """\
Starts, watches, cancels and retries ingest runs. Authenticate as for Airflow's own API (`Authorization: Bearer …`).
The right to an importer's runs is the right to the DAG runs of its DAG `ingest_<slug>`.
Every error is a problem document (RFC 9457)."""

SECURITY = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "A token of Airflow's API: `POST /auth/token`."},
    "cookie": {"type": "apiKey", "in": "cookie", "name": "_token", "description": "The cookie of Airflow's UI."},
}

REASONS = {
    400: "There is nothing to do: no failed rows to retry, or no path to read.",
    401: "No credential, or one that is invalid or has expired.",
    403: "The right is missing, or the request comes from a page of another origin.",
    404: "There is no such run or importer, the caller may not see it, or it has no failed rows to download.",
    409: "The run or importer is in a state that does not allow this; `code` says which.",
    413: "The body is larger than allowed.",
    415: "The file's content is in none of the supported formats.",
    422: "A parameter is malformed; `errors` lists which.",
    429: "Too many starts; try again after `Retry-After` seconds.",
    503: "The ingest tables or the staging storage cannot be reached.",
}

FLAG = {"type": "string", "enum": ["1", "true", "0", "false"]}
DRY_RUN = {**FLAG, "description": "Do everything but keep the rows."}
FILE = {"type": "string", "format": "binary"}

UPLOAD_FORM = {
    "type": "object",
    "required": ["file"],
    "properties": {
        "file": {**FILE, "description": "CSV, XLSX, JSON, NDJSON, Parquet or Arrow, also in gzip, zip or zstd."},
        "dry_run": DRY_RUN,
        "force": {**FLAG, "description": "Import a file again that the importer has imported before."},
    },
}

CORRECTED_FORM = {
    "type": "object",
    "required": ["file"],
    "properties": {
        "file": {**FILE, "description": "The failed rows, corrected; matched by `_row_number`."},
        "dry_run": DRY_RUN,
    },
}


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The ``responses`` of a route that may refuse with these statuses, beside those of every route."""
    content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    answers: dict[int | str, dict[str, Any]] = {}
    for status in sorted({401, 403, 503, *statuses}):
        answers[status] = {"description": REASONS[status], "content": content}
    if 429 in answers:
        answers[429]["headers"] = {"Retry-After": {"description": "Seconds.", "schema": {"type": "integer"}}}
    return answers


def body(*, form: dict[str, Any] | None = None, model: type | None = None) -> dict[str, Any]:
    """The ``openapi_extra`` of a route that reads its body by hand: a form, or an optional JSON document."""
    content: dict[str, Any] = {}
    if model is not None:
        content["application/json"] = {"schema": {"$ref": f"#/components/schemas/{model.__name__}"}}
    if form is not None:
        content["multipart/form-data"] = {"schema": form}
    return {"requestBody": {"required": model is None, "content": content}}


def octets(description: str) -> dict[str, Any]:
    """The ``openapi_extra`` of a route that takes bytes."""
    content = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
    return {"requestBody": {"required": True, "description": description, "content": content}}


def csv_answer(description: str) -> dict[int | str, dict[str, Any]]:
    """The success answer of a download."""
    return {200: {"description": description, "content": {"text/csv": {"schema": {"type": "string"}}}}}


def openapi(app: FastAPI, server: str) -> dict[str, Any]:
    """The app's OpenAPI document.

    :param server: the path under which the app is mounted.
    """
    document = get_openapi(
        title=app.title, version=app.version, description=DESCRIPTION, routes=app.routes, servers=[{"url": server}]
    )
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    for model in (datamodels.Problem, datamodels.TriggerBody, datamodels.RetryBody):
        schema = model.model_json_schema(ref_template="#/components/schemas/{model}")
        schemas.update(schema.pop("$defs", {}))
        schemas[model.__name__] = schema
    document["components"]["securitySchemes"] = SECURITY
    for operations in document["paths"].values():
        for operation in operations.values():
            operation["security"] = [{name: []} for name in SECURITY]
            for parameter in operation.get("parameters", ()):
                parameter["schema"] = _without_null(parameter["schema"])
    document["components"]["schemas"] = dict(sorted(schemas.items()))
    return document


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of a parameter that may be left out, but has no way to be null."""
    kinds = [kind for kind in schema.get("anyOf", ()) if kind != {"type": "null"}]
    if len(kinds) != 1:
        return schema
    return {**{name: value for name, value in schema.items() if name != "anyOf"}, **kinds[0]}
