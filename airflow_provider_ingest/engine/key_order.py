"""Rows whose key occurs in more than one chunk: found while planning, so that they can be worked in file order.

Chunks end in any order. For a key that occurs once, or several times within one chunk, that does not matter. The
other rows are taken out of their chunks and make up one last chunk, worked after all others: the outcome is then the
one of working the whole file row by row, whatever the order in which the chunks end. Uncontested rows cannot
interact with contested ones, because they have other keys.

The keys of all chunks are compared by 64-bit hashes that lie sorted in scratch files: memory is bounded by
:data:`PARTITION` hashes, whatever the size of the file. Two keys of equal hash are at worst worked in the last
chunk without need.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from airflow_provider_ingest.runs.frames import ROW_NUMBER

PARTITION = 2_000_000
"""Most hashes compared at once, about (16 bytes each plus the sort)."""

Hashes = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ChunkKeys:
    """The keys of one chunk on disk: hashes in ascending order, and the row number of each."""

    index: int
    hashes: Path
    numbers: Path


def store_keys(index: int, keys: Iterable[pl.DataFrame], folder: Path) -> ChunkKeys:
    """Write the key hashes of one chunk to ``folder``.

    :param keys: frames of :data:`ROW_NUMBER` and the key's attributes as they would be written; a key with a null
        part identifies nothing and is left out.
    """
    hashes: list[Hashes] = []
    numbers: list[Numbers] = []
    for frame in keys:
        whole = frame.drop_nulls()
        hashes.append(whole.drop(ROW_NUMBER).hash_rows(seed=1).to_numpy())
        numbers.append(whole.get_column(ROW_NUMBER).cast(pl.Int64).to_numpy())
    values = np.concatenate(hashes) if hashes else np.empty(0, np.uint64)
    rows = np.concatenate(numbers) if numbers else np.empty(0, np.int64)
    order = np.argsort(values, kind="stable")
    stored = ChunkKeys(index, folder / f"keys-{index}.npy", folder / f"rows-{index}.npy")
    np.save(stored.hashes, values[order])
    np.save(stored.numbers, rows[order])
    return stored


def contested_rows(chunks: Sequence[ChunkKeys]) -> dict[int, Numbers]:
    """The rows to take out of each chunk, ascending; chunks without any are not in the result."""
    found: dict[int, list[Numbers]] = {}
    if len(chunks) < 2:
        return {}
    for part in _partitions(chunks):
        for index, numbers in _contested(part):
            found.setdefault(index, []).append(numbers)
    return {index: np.sort(np.concatenate(parts)) for index, parts in sorted(found.items())}


def _partitions(chunks: Sequence[ChunkKeys]) -> Iterator[list[tuple[int, Hashes, Numbers]]]:
    """Slices of all chunks that hold the same range of hashes, one range after the other."""
    opened = [
        (chunk.index, np.load(chunk.hashes, mmap_mode="r"), np.load(chunk.numbers, mmap_mode="r")) for chunk in chunks
    ]
    total = sum(len(hashes) for _, hashes, _ in opened)
    count = max(1, -(-total // PARTITION))
    borders = [np.uint64(int(part * 2**64 // count)) for part in range(1, count)]
    starts = [np.concatenate(([0], np.searchsorted(hashes, borders))) for _, hashes, _ in opened]
    for part in range(count):
        slices = []
        for (index, hashes, numbers), start in zip(opened, starts, strict=True):
            low = int(start[part])
            high = int(start[part + 1]) if part + 1 < count else len(hashes)
            slices.append((index, np.asarray(hashes[low:high]), np.asarray(numbers[low:high])))
        yield slices


def _contested(part: list[tuple[int, Hashes, Numbers]]) -> Iterator[tuple[int, Numbers]]:
    """The rows of the slices whose hash stands in at least two of them."""
    distinct = np.concatenate([np.unique(hashes) for _, hashes, _ in part])
    values, times = np.unique(distinct, return_counts=True)
    shared = values[times > 1]
    if len(shared):
        for index, hashes, numbers in part:
            rows = numbers[np.isin(hashes, shared)]
            if len(rows):
                yield index, rows


def without(frame: pl.DataFrame, rows: Mapping[int, Numbers], index: int) -> pl.DataFrame:
    """The frame of a chunk without its contested rows."""
    taken = rows.get(index)
    if taken is None:
        return frame
    return frame.filter(~pl.col(ROW_NUMBER).is_in(pl.Series(taken).implode()))
