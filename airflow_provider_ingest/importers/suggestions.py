"""Names that look like a misspelt one, for messages that tell the way out."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

MOST_SHOWN = 12


def look_alikes(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """The known names that look like ``name``, best first; case, blanks, ``_`` and ``-`` do not count.

    >>> look_alikes("Prise", ["sku", "price", "name"])
    ['price']
    """
    originals: dict[str, str] = {}
    for one in known:
        originals.setdefault(_bare(one), one)
    return [originals[match] for match in difflib.get_close_matches(_bare(name), list(originals), most, 0.6)]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A sentence part such as `` Did you mean "price"?``, empty if nothing looks alike."""
    found = look_alikes(name, known, most=1)
    return f' Did you mean "{found[0]}"?' if found else ""


def listed(names: Iterable[str]) -> str:
    """Names quoted and joined, cut after a dozen.

    >>> listed(["a", "b"])
    '"a", "b"'
    """
    names = list(names)
    text = ", ".join(f'"{name}"' for name in names[:MOST_SHOWN])
    return text + (f" and {len(names) - MOST_SHOWN} more" if len(names) > MOST_SHOWN else "")


def _bare(name: str) -> str:
    return "".join(character for character in name.casefold() if character.isalnum()) or name
