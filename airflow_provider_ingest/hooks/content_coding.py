"""What a server packed only for the way, unpacked: within bounds, and never a part taken for the whole."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from airflow_provider_ingest.exceptions import SourceError
from airflow_provider_ingest.formats.compression import check_size
from airflow_provider_ingest.formats.limits import LIMITS
from airflow_provider_ingest.hooks.base import BLOCK

_BITE = 32 << 10


def decoded(blocks: Iterator[bytes], coding: str) -> Iterator[bytes]:
    """The file itself, where the server packed it only for the way; a packed body that ends early is refused."""
    if coding in ("identity", ""):
        yield from blocks
        return
    if coding not in ("gzip", "x-gzip"):
        raise SourceError(f"The server sends the file packed as {coding!r}, which was not asked for.")
    inflater = zlib.decompressobj(31)
    is_begun = False
    packed = size = 0
    for data in _bites(blocks):
        packed += len(data)
        while data:
            if inflater.eof:  # several packed pieces may follow each other
                inflater = zlib.decompressobj(31)
            try:
                piece = inflater.decompress(data, BLOCK)
            except zlib.error as error:
                raise SourceError("The packed file is damaged.", retryable=True) from error
            is_begun = True
            size += len(piece)
            check_size(size, packed, LIMITS)
            yield piece
            data = inflater.unused_data if inflater.eof else inflater.unconsumed_tail
    if is_begun and not inflater.eof:
        raise SourceError("The packed file ends before its end.", retryable=True)


def _bites(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Small pieces: behind each of many packed pieces, what is left of its block is copied."""
    for block in blocks:
        yield from (block[start : start + _BITE] for start in range(0, len(block), _BITE))
