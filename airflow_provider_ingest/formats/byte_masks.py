"""Where bytes stand in a block, as one bit for each: whole words of 64 are worked at once, nothing byte by byte.

The parity of quotes before each byte is a prefix sum modulo two, which takes six shifts for a word. After "Parsing
Gigabytes of JSON per Second" (Langdale and Lemire, 2019).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Mask = npt.NDArray[np.uint64]
"""Bit ``n % 64`` of word ``n // 64`` says something of byte ``n``; the bits behind the last byte are 0."""

Positions = npt.NDArray[np.int64]

_WORD = 64
_LAST = np.uint64(_WORD - 1)
_ONE = np.uint64(1)
_DENSE = 16
"""Where one of so many bytes is marked, looking at each is the faster way to their places."""


def mask_of(data: bytes, byte: int) -> Mask:
    """Where the byte stands.

    >>> [bin(word) for word in mask_of(b"a,b,c", ord(","))]
    ['0b1010']
    """
    bits = np.packbits(np.frombuffer(data, np.uint8) == byte, bitorder="little")
    if short := -len(bits) % 8:
        bits = np.concatenate((bits, np.zeros(short, np.uint8)))
    return bits.view("<u8")


def bit(mask: Mask, position: int) -> Mask:
    """A mask of the same length with nothing but this bit."""
    alone = np.zeros_like(mask)
    alone[position // _WORD] = _ONE << np.uint64(position % _WORD)
    return alone


def after(mask: Mask) -> Mask:
    """What stands behind the marked bytes; of the last one there may be nothing to say."""
    moved = mask << _ONE
    moved[1:] |= mask[:-1] >> _LAST
    return moved


def before(mask: Mask) -> Mask:
    """What stands before the marked bytes."""
    moved = mask >> _ONE
    moved[:-1] |= mask[1:] << _LAST
    return moved


def odd_from(mask: Mask) -> Mask:
    """Where an odd number of marked bytes stand up to here, this one included.

    >>> [bin(word) for word in odd_from(mask_of(b'a"b"c"', ord('"')))][0][-6:]
    '100110'
    """
    odd = mask.copy()
    for distance in (1, 2, 4, 8, 16, 32):
        odd ^= odd << np.uint64(distance)
    ends = odd >> _LAST
    odd[1:] ^= np.negative(np.bitwise_xor.accumulate(ends)[:-1])
    return odd


def count(mask: Mask, end: int | None = None) -> int:
    """How many bytes are marked, before ``end`` or in all."""
    if end is None:
        return int(np.bitwise_count(mask).sum(dtype=np.int64))
    words, bits = divmod(end, _WORD)
    marked = count(mask[:words])
    return marked + (int(mask[words]) & ((1 << bits) - 1)).bit_count() if bits else marked


def end_of(mask: Mask) -> int:
    """The place behind the last marked byte, 0 where none is.

    >>> end_of(mask_of(b"a,b,c", ord(",")))
    4
    """
    for word in range(len(mask) - 1, -1, -1):  # the last line of a block is a short one
        if mask[word]:
            return word * _WORD + int(mask[word]).bit_length()
    return 0


def are_marked_at(mask: Mask, distance: int) -> bool:
    """Whether any two marked bytes are so far from each other, less than 64.

    >>> are_marked_at(mask_of(b"a,b,c", ord(",")), 2)
    True
    """
    inside = mask & (mask << np.uint64(distance))
    across = mask[1:] & (mask[:-1] >> np.uint64(_WORD - distance))
    return bool(inside.any() or across.any())


def places(mask: Mask) -> Positions:
    """The marked bytes, ascending."""
    numbers = np.flatnonzero(mask)
    words = mask[numbers]
    counts = np.bitwise_count(words).astype(np.int64)
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    if total * _DENSE > len(mask) * _WORD:
        return np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little"))
    found = np.empty(total, np.int64)
    starts, into = numbers * _WORD, ends - counts
    while len(words):
        lowest = words & np.negative(words)
        found[into] = starts + np.bitwise_count(lowest - _ONE)
        words ^= lowest
        left = np.flatnonzero(words)
        words, starts, into = words[left], starts[left], into[left] + 1
    return found
