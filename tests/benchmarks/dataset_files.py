"""The orders of :mod:`tests.benchmarks.dataset` in other formats: the same rows, mistakes included.

``python -m tests.benchmarks.dataset_files [rows ...]`` makes them all beforehand, one and ten million rows unless told.
They are written as a stream, and stay in the folder of the CSV files for the next time.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

import polars as pl

from tests.benchmarks.dataset import FOLDER, make_dataset

PART = 100_000
SHEET_ROWS = 1_048_575
"""What a worksheet takes beside its header."""
NUMBERS = {"order": pl.Int64, "quantity": pl.Int64, "rating": pl.Float64}


def make_json(folder: Path, rows: int) -> Path:
    """One array of objects. Numbers are numbers; a wrong price stays the text that it is."""

    def write(file: BinaryIO) -> None:
        before = b"[\n"
        for lines in _objects(folder, rows):
            file.write(before + ",\n".join(lines).encode())
            before = b",\n"
        file.write(b"\n]\n")

    return _made(folder / f"orders-{rows}.json", write)


def make_ndjson(folder: Path, rows: int) -> Path:
    """An object on each line."""

    def write(file: BinaryIO) -> None:
        for lines in _objects(folder, rows):
            file.write("\n".join(lines).encode() + b"\n")

    return _made(folder / f"orders-{rows}.ndjson", write)


def make_parquet(folder: Path, rows: int) -> Path:
    """Text columns, as in the CSV file, but for the numbers."""

    def write(file: BinaryIO) -> None:
        pl.scan_csv(make_dataset(folder, rows).raw, infer_schema=False).cast(NUMBERS).sink_parquet(file)

    return _made(folder / f"orders-{rows}.parquet", write)


def make_xlsx(folder: Path, rows: int) -> Path:
    """A workbook of one sheet, the texts in its cells; at most 1,048,575 rows."""
    import xlsxwriter

    if rows > SHEET_ROWS:
        raise ValueError(f"A worksheet takes {SHEET_ROWS:,} rows, not {rows:,}.")

    def write(file: BinaryIO) -> None:
        with xlsxwriter.Workbook(file, {"constant_memory": True}) as book:
            sheet, line = book.add_worksheet("orders"), 0
            for frame in _frames(folder, rows):
                if line == 0:
                    sheet.write_row(0, 0, frame.columns)
                for row in frame.iter_rows():
                    line += 1
                    sheet.write_row(line, 0, row)

    return _made(folder / f"orders-{rows}.xlsx", write)


def _objects(folder: Path, rows: int) -> Iterator[list[str]]:
    for frame in _frames(folder, rows):
        text = frame.select(pl.struct(pl.all()).struct.json_encode()).to_series()
        yield text.str.replace(r'"price":"([0-9.]+)"', '"price":${1}').to_list()


def _frames(folder: Path, rows: int) -> Iterator[pl.DataFrame]:
    lazy = pl.scan_csv(make_dataset(folder, rows).raw, infer_schema=False).cast(NUMBERS)
    return lazy.collect_batches(chunk_size=PART, maintain_order=True)


def _made(path: Path, write: Callable[[BinaryIO], None]) -> Path:
    """The file, which is there whole or not at all."""
    if not path.exists():
        part = path.with_suffix(".part")
        with part.open("wb") as file:
            write(file)
        part.rename(path)
    return path


def main(sizes: list[int]) -> None:
    """Make the files of these sizes."""
    for rows in sizes:
        paths = [make_dataset(FOLDER, rows).raw, make_json(FOLDER, rows)]
        if rows <= SHEET_ROWS:
            paths.append(make_xlsx(FOLDER, rows))
        for path in paths:
            print(f"{path}  {path.stat().st_size / 1e6:,.0f} MB")


if __name__ == "__main__":
    main([int(argument) for argument in sys.argv[1:]] or [1_000_000, 10_000_000])
