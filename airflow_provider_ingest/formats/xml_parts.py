"""XML as parts of a workbook hold it: parsed as a stream, without declarations that could blow it up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any
from xml.parsers import expat

from airflow_provider_ingest.exceptions import FormatError


def local_name(tag: str) -> str:
    """A tag's or attribute's name without its prefix.

    >>> local_name("x:row"), local_name("row")
    ('row', 'row')
    """
    return tag.rpartition(":")[2]


def parse_xml(
    pieces: Iterable[bytes],
    start: Callable[[str, dict[str, str]], None],
    end: Callable[[str], None] | None = None,
    characters: Callable[[str], None] | None = None,
    what: str = "A part of the workbook",
) -> Iterator[None]:
    """Parse XML piece by piece and stop after each, so that the caller can take what was found.

    :raises FormatError: it is not well-formed, or declares entities.
    """
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    parser.EntityDeclHandler = _refuse_entity
    try:
        for piece in pieces:
            parser.Parse(piece, False)
            yield
        parser.Parse(b"", True)
    except (expat.ExpatError, ValueError, LookupError) as error:
        raise FormatError(f"{what} is not well-formed XML: {error}.") from None
    yield


def elements(pieces: Iterable[bytes]) -> list[tuple[str, dict[str, str]]]:
    """All elements of a small part in their order: local names, and attributes by local names."""
    found: list[tuple[str, dict[str, str]]] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        found.append((local_name(tag), {local_name(name): value for name, value in attributes.items()}))

    for _ in parse_xml(pieces, start):
        pass
    return found


def _refuse_entity(*_: Any) -> None:
    raise FormatError("The workbook declares XML entities; save it again with a spreadsheet program.")
