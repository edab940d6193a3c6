"""Parameters that several routes share."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path
from pydantic import Field

RunNumber = Annotated[int, Field(ge=1, le=2**63 - 1)]
RunId = Annotated[int, Path(ge=1, le=2**63 - 1, description="Id of the run.")]
Slug = Annotated[str, Path(min_length=1, max_length=200, description="Slug of the importer.", examples=["products"])]
