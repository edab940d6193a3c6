"""XML as parts of a workbook hold it: parsed as a stream, without declarations that could blow it up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any
from xml.parsers import expat

from airflow_provider_ingest.exceptions import FormatError
from airflow_provider_ingest.formats.limits import MIB


def local_name(tag: str) -> str:
    """A tag's or attribute's name without its prefix.

    >>> local_name("x:row"), local_name("row")
    ('row', 'row')
    """
    return tag.rpartition(":")[2]


DEEPEST = 100
"""How deep elements may stand in each other; a workbook's stand less than ten deep, a hostile one's cost memory."""

LONGEST_TAG = 16 * MIB
"""What the parser may hold of a tag that has not ended: it looks at all of that again with every piece."""


def parse_xml(
    pieces: Iterable[bytes],
    start: Callable[[str, dict[str, str]], None],
    end: Callable[[str], None] | None = None,
    characters: Callable[[str], None] | None = None,
    what: str = "A part of the workbook",
) -> Iterator[None]:
    """Parse XML piece by piece and stop after each, so that the caller can take what was found.

    :raises FormatError: it is not well-formed, declares entities, or would take much memory or time.
    """
    depth = fed = 0

    def opened(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > DEEPEST:
            raise FormatError(f"{what} is nested too deeply.")
        start(tag, attributes)

    def closed(tag: str) -> None:
        nonlocal depth
        depth -= 1
        if end is not None:
            end(tag)

    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = opened
    parser.EndElementHandler = closed
    parser.CharacterDataHandler = characters
    parser.EntityDeclHandler = _refuse_entity
    try:
        for piece in pieces:
            parser.Parse(piece, False)
            fed += len(piece)
            if fed - parser.CurrentByteIndex > LONGEST_TAG:
                raise FormatError(f"{what} has a tag that is larger than {LONGEST_TAG // MIB} MiB.")
            yield
        parser.Parse(b"", True)
    except (expat.ExpatError, ValueError, LookupError) as error:
        raise FormatError(f"{what} is not well-formed XML: {error}.") from None
    yield


def elements(pieces: Iterable[bytes]) -> Iterator[tuple[str, dict[str, str]]]:
    """The elements of a part in their order: local names, and attributes by local names."""
    found: list[tuple[str, dict[str, str]]] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        found.append((local_name(tag), {local_name(name): value for name, value in attributes.items()}))

    for _ in parse_xml(pieces, start):
        yield from found
        found.clear()


def _refuse_entity(*_: Any) -> None:
    raise FormatError("The workbook declares XML entities; save it again with a spreadsheet program.")
