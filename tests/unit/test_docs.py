"""The Python examples of the pages run as they stand, page by page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs" / "how-to").glob("*.md")),
    ROOT / "docs" / "tutorial" / "quickstart.md",
]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?://|#)([^)#]+)")


@pytest.mark.parametrize("page", [page for page in PAGES if BLOCK.search(page.read_text())], ids=lambda page: page.stem)
def test_the_examples_of_a_page_run(page):
    namespace: dict[str, object] = {"__name__": f"docs_{page.stem}"}
    for block in BLOCK.finditer(page.read_text()):
        line = page.read_text()[: block.start(1)].count("\n")
        exec(compile("\n" * line + block[1], str(page), "exec", dont_inherit=True), namespace)


@pytest.mark.parametrize(
    "page", [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")], ids=lambda page: str(page.relative_to(ROOT))
)
def test_the_links_of_a_page_lead_somewhere(page):
    broken = [link for link in LINK.findall(page.read_text()) if not (page.parent / link).exists()]
    assert not broken
