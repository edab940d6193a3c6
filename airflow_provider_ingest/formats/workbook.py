"""An XLSX workbook: its sheets, cell formats and shared strings, with sizes judged while inflating.

Nothing that the file states about itself is believed: neither sizes in the ZIP directory nor counts in its XML.
"""

from __future__ import annotations

import posixpath
import re
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from airflow_provider_ingest.exceptions import FormatError, InflatesTooFar
from airflow_provider_ingest.formats.compression import check_member, inflate_member, open_zip
from airflow_provider_ingest.formats.limits import LIMITS, MIB, Limits
from airflow_provider_ingest.formats.shared_strings import shared_strings
from airflow_provider_ingest.formats.sheet_values import DATE, DURATION, CellTexts
from airflow_provider_ingest.formats.xml_parts import elements

_SMALL_PART = 32 * MIB
_BUILT_IN = dict.fromkeys(map(str, (*range(14, 23), *range(27, 37), 45, 47, *range(50, 59))), DATE) | {"46": DURATION}
"""Number formats every spreadsheet program knows without a definition."""

_VALUE = re.compile(rb"<(?:[A-Za-z0-9]+:)?(?:v|is|f)[ />]")
"""What only a cell that has a value holds."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A sheet as the workbook lists it; ``part`` is its member, ``None`` for a chart and the like."""

    name: str
    part: zipfile.ZipInfo | None
    is_visible: bool


class Workbook:
    """The parts of an open workbook."""

    def __init__(self, file: Any, limits: Limits = LIMITS) -> None:
        """Look at the ZIP directory and the list of sheets.

        :param file: binary and seekable.
        :raises FormatError: it is no workbook, or one that would take too much.
        """
        self._file = file
        self._limits = limits
        with open_zip(file, limits) as archive:
            members = archive.infolist()
        self._members = {member.filename.replace("\\", "/").lower(): member for member in members}
        if not any(name.startswith("xl/") for name in self._members):
            raise FormatError("The file is no XLSX workbook.")
        if "xl/workbook.bin" in self._members:
            raise FormatError("The file is a binary workbook (.xlsb); save it as .xlsx.")
        for member in members:
            check_member(member)
        if sum(member.file_size for member in members) > limits.workbook_bytes:
            raise self._too_large()
        self._path = self._main_part()
        self._relations = self._related()
        self.is_1904 = False
        self.sheets = tuple(self._sheets())

    def pieces(self, member: zipfile.ZipInfo, most: int | None = None) -> Iterator[bytes]:
        """The inflated bytes of a part, below the cap."""
        most, size = most or self._limits.workbook_bytes, 0
        for piece in inflate_member(self._file, member, self._limits):
            size += len(piece)
            if size > most:
                raise self._too_large()
            yield piece

    def has_values(self, sheet: Sheet) -> bool:
        """Whether a cell near the beginning of a sheet has a value; of a damaged one nobody knows."""
        begun = b""
        with suppress(FormatError):
            for piece in self.pieces(sheet.part) if sheet.part else ():
                begun += piece
                if _VALUE.search(begun) or len(begun) > MIB:
                    break
        return _VALUE.search(begun) is not None

    def cell_texts(self) -> CellTexts:
        """What is needed to read cells: shared strings and cell formats."""
        return CellTexts(self._strings(), self._styles(), self.is_1904)

    def _too_large(self) -> FormatError:
        size = self._limits.workbook_bytes // MIB
        return InflatesTooFar(f"The workbook inflates to more than {size:,} MiB; save it as CSV.")

    def _small(self, name: str) -> Iterator[tuple[str, dict[str, str]]]:
        member = self._members.get(name.lower())
        return iter(()) if member is None else elements(self.pieces(member, _SMALL_PART))

    def _main_part(self) -> str:
        for tag, attributes in self._small("_rels/.rels"):
            if tag == "Relationship" and attributes.get("Type", "").endswith("/officeDocument"):
                return posixpath.normpath(attributes.get("Target", "").lstrip("/"))
        return "xl/workbook.xml"

    def _related(self) -> dict[str, tuple[str, str]]:
        """By id: the type and the path of the parts that belong to the workbook."""
        folder, name = posixpath.split(self._path)
        found: dict[str, tuple[str, str]] = {}
        for tag, attributes in self._small(f"{folder}/_rels/{name}.rels"):
            if tag == "Relationship":
                self._check_number(len(found), "parts")
                path = posixpath.normpath(posixpath.join("/", folder, attributes.get("Target", ""))).lstrip("/")
                found[attributes.get("Id", "")] = (attributes.get("Type", "").rpartition("/")[2], path)
        return found

    def _part(self, kind: str, default: str) -> zipfile.ZipInfo | None:
        path = next((path for one, path in self._relations.values() if one == kind), default)
        return self._members.get(path.lower())

    def _check_number(self, number: int, what: str) -> None:
        """A workbook cannot use more of anything than a ZIP container may hold."""
        if number > self._limits.zip_entries:
            raise FormatError(f"The workbook lists more than {self._limits.zip_entries:,} {what}.")

    def _sheets(self) -> Iterator[Sheet]:
        number = 0
        for tag, attributes in self._small(self._path):
            if tag == "workbookPr":
                self.is_1904 = attributes.get("date1904", "").lower() in ("1", "true")
            elif tag == "sheet":
                number += 1
                self._check_number(number, "sheets")
                kind, path = self._relations.get(attributes.get("id", ""), ("", ""))
                part = self._members.get(path.lower()) if kind == "worksheet" else None
                yield Sheet(attributes.get("name", ""), part, attributes.get("state", "visible") == "visible")

    def _styles(self) -> Any:
        """What each cell format makes of a number."""
        member = self._part("styles", "xl/styles.xml")
        if member is None:
            return np.zeros(0, np.uint8)
        custom: dict[str, int] = {}
        formats: list[int] = []
        is_cell_format = False
        for tag, attributes in elements(self.pieces(member, _SMALL_PART)):
            if tag == "numFmt":
                custom[attributes.get("numFmtId", "")] = temporal_format(attributes.get("formatCode", ""))
            elif tag == "xf" and is_cell_format:
                number = attributes.get("numFmtId", "0")
                formats.append(custom.get(number, _BUILT_IN.get(number, 0)))
            elif tag in ("cellStyleXfs", "cellXfs", "cellStyles"):
                is_cell_format = tag == "cellXfs"
        return np.array(formats, np.uint8)

    def _strings(self) -> pl.Series:
        member = self._part("sharedStrings", "xl/sharedStrings.xml")
        if member is None:
            return pl.Series([], dtype=pl.String)
        return shared_strings(lambda: self.pieces(member), self._limits)


def temporal_format(code: str) -> int:
    """What a number format makes of a number: 0 (a number), :data:`DATE` or :data:`DURATION`.

    >>> [temporal_format(code) for code in ("0.00", 'yyyy-mm-dd', "[h]:mm", '"day" 0', "[Red]0", "#,##0 _d")]
    [0, 1, 2, 0, 0, 0]
    """
    is_escaped = is_quoted = has_elapsed = False
    depth = 0
    before = " "
    for sign in code:
        if is_escaped:
            is_escaped = False
        elif is_quoted:
            is_quoted = sign != '"'
        elif sign in "_\\*":
            is_escaped = True
        elif sign == '"':
            is_quoted = True
        elif sign == ";":
            return 0
        elif sign == "[":
            depth += 1
        elif sign == "]":
            if depth == 1 and has_elapsed:
                return DURATION
            depth = max(depth - 1, 0)
        elif not depth and sign in "dmhysDMHYS":
            return DATE
        elif depth:
            lower = sign.lower()
            has_elapsed = (has_elapsed and lower == before.lower()) or (before == "[" and lower in "mhs")
        before = sign
    return 0
