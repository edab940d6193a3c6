"""The documents of logged rows, with and without the names of their fields."""

from __future__ import annotations

from typing import Any

import polars as pl
from hypothesis import example, given, settings
from hypothesis import strategies as st

from airflow_provider_ingest.engine.json_text import json_arrays, json_objects
from airflow_provider_ingest.models.base import load_json
from airflow_provider_ingest.runs.frames import ROW_LOG, Kind
from airflow_provider_ingest.storage.row_documents import named, with_names

TEXTS = st.one_of(
    st.none(),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
    st.text('ab"\\\n\0\x1f\x7f ,[]{}', max_size=4),
    st.sampled_from(["1", "-1.50", "1e5", "12345678901234567890", "true", "null", '[1, "]"]', '{"a":\n[2.0]}', '["']),
)
FRAMES = st.integers(1, 4).flatmap(
    lambda width: st.tuples(
        st.lists(st.tuples(*[TEXTS] * width), max_size=4),
        st.lists(TEXTS.filter(lambda text: text is not None), min_size=width, max_size=width, unique=True),
        st.lists(st.sampled_from(Kind), min_size=width, max_size=width),
        st.integers(0, 2),
    )
)


@settings(deadline=None)
@given(FRAMES)
@example(([("plain", "too")], ["a\0", "b"], [Kind.TEXT, Kind.TEXT], 0))
@example(([("1", 'not "plain"')], ["a", "b"], [Kind.INTEGER, Kind.TEXT], 0))
def test_an_array_with_its_names_is_the_object_to_the_byte(made: tuple[Any, ...]) -> None:
    lines, names, of_kind, start = made
    frame = pl.DataFrame(lines, schema=dict.fromkeys(names, pl.String), orient="row").slice(start)
    kinds = dict(zip(names, of_kind, strict=True))
    objects, arrays = json_objects(frame, kinds), json_arrays(frame, kinds)
    log = pl.DataFrame({"data": arrays}, schema={"data": ROW_LOG["data"]})
    assert with_names(log, names)["data"].to_list() == objects.to_list()
    for array, whole in zip(arrays, objects, strict=True):
        assert list(named(load_json(array), names).items()) == list(load_json(whole).items())
