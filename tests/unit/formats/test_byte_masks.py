"""Masks of bytes say what looking at each byte says, wherever words of 64 end."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_provider_ingest.formats.byte_masks import (
    after,
    are_marked_at,
    before,
    bit,
    count,
    end_of,
    mask_of,
    odd_from,
    places,
)

A = ord("a")
texts = st.lists(st.sampled_from([b"a", b"b", b"b" * 63, b"b" * 64, b"ab" * 40]), min_size=1, max_size=12).map(b"".join)
"""Sparse and dense ones, with marked bytes at both ends of words."""


def found(data: bytes) -> list[int]:
    """Where each ``a`` stands, byte by byte."""
    return [place for place, byte in enumerate(data) if byte == A]


@given(texts)
def test_places_and_their_number_are_those_that_looking_at_each_byte_finds(data: bytes) -> None:
    mask = mask_of(data, A)
    assert places(mask).tolist() == found(data)
    assert count(mask) == len(found(data))


@given(texts, st.data())
def test_the_marked_bytes_before_any_place_are_counted(data: bytes, draw: st.DataObject) -> None:
    end = draw.draw(st.integers(0, len(data)))
    assert count(mask_of(data, A), end) == data[:end].count(b"a")


@given(texts)
def test_the_end_is_behind_the_last_marked_byte(data: bytes) -> None:
    assert end_of(mask_of(data, A)) == data.rfind(b"a") + 1


@given(texts, st.integers(1, 63))
def test_marked_bytes_so_far_from_each_other_are_seen_across_words(data: bytes, distance: int) -> None:
    marked = set(found(data))
    assert are_marked_at(mask_of(data, A), distance) == any(place + distance in marked for place in marked)


@given(texts)
def test_a_mask_moves_to_the_neighbours_of_its_bytes(data: bytes) -> None:
    mask, size = mask_of(data, A), len(data)
    assert [place for place in places(after(mask)).tolist() if place < size] == [
        place + 1 for place in found(data) if place + 1 < size
    ]
    assert places(before(mask)).tolist() == [place - 1 for place in found(data) if place]


@given(texts)
def test_the_parity_up_to_each_byte_is_that_of_the_marked_bytes_so_far(data: bytes) -> None:
    odd = places(odd_from(mask_of(data, A)))
    inside = [place for place in range(len(data)) if data[: place + 1].count(b"a") % 2]
    assert odd[odd < len(data)].tolist() == inside


@pytest.mark.parametrize("place", [0, 63, 64, 129])
def test_one_bit_is_set_alone(place: int) -> None:
    assert places(bit(mask_of(b"b" * 130, A), place)).tolist() == [place]


@pytest.mark.parametrize("every", [1, 2, 15, 16, 17, 64, 1000])
def test_dense_and_sparse_marks_are_found_alike(every: int) -> None:
    data = (b"b" * (every - 1) + b"a") * 3_000
    assert np.array_equal(places(mask_of(data, A)), np.arange(every - 1, len(data), every))
