"""The reference of the importer says what the docstrings say."""

from __future__ import annotations

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_importer_reference_is_up_to_date():
    made = runpy.run_path(str(ROOT / "scripts" / "importer_reference.py"))["page"]()
    assert (ROOT / "docs/reference/importer.md").read_text() == made, "Run: python scripts/importer_reference.py"
