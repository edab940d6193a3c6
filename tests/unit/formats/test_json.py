"""JSON arrays: elements, numbers digit for digit, and broken files."""

import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from airflow_provider_ingest.exceptions import FormatError
from airflow_provider_ingest.formats import json_array
from airflow_provider_ingest.formats.limits import Limits
from tests.unit.formats.tables import read_bytes


def test_every_value_travels_as_text_with_its_kind():
    whole = read_bytes(b'[{"i": 1, "n": 12.10, "b": true, "s": "x", "j": {"a": [1.50, "y"]}, "z": null}]')
    assert whole.rows == [{"i": "1", "n": "12.10", "b": "true", "s": "x", "j": '{"a":[1.50,"y"]}', "z": None}]
    assert whole.kinds == {"i": "integer", "n": "number", "b": "boolean", "j": "json"}


@pytest.mark.parametrize(
    "number", ["12.10", "1e5", "1E400", "-0.0", "0.1000000000000000000001", "123456789012345678901"]
)
def test_a_number_keeps_its_digits(number):
    assert read_bytes(b'[{"n": %b}]' % number.encode()).rows == [{"n": number}]
    assert read_bytes(b'[{"n": [%b]}]' % number.encode()).rows == [{"n": f"[{number}]"}]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ("1,2", "integer"),
        ("1,2.5", "number"),
        ("1,null", "integer"),
        ("9223372036854775808,1", "number"),
        ('1,"1"', "text"),
        ("true,1", "text"),
        ("[],{}", "json"),
        ('[],"x"', "text"),
        ("null,null", "text"),
    ],
)
def test_a_column_has_one_kind_over_the_whole_file(values, kind):
    rows = b",".join(b'{"v":%b}' % value.encode() for value in values.split(","))
    assert read_bytes(b"[%b]" % rows, chunk_rows=1).kinds.get("v", "text") == kind


def test_a_key_that_turns_up_late_is_null_before():
    whole = read_bytes(b'[{"a":1},{"a":2,"b":3},{"c":4}]', chunk_rows=1)
    assert whole.plan.columns == ("a", "b", "c")
    assert whole.rows[0] == {"a": "1", "b": None, "c": None}
    assert whole.rows[2] == {"a": None, "b": None, "c": "4"}


def test_an_element_that_is_no_object_fails_alone():
    whole = read_bytes(b'[{"a":1}, 7, [1], null, "x", {"a":2}]', chunk_rows=4)
    assert whole.numbers == whole.lines == [1, 6]
    assert [(row["_row_number"], row["raw"]) for row in whole.malformed] == [
        (2, "7"),
        (3, "[1]"),
        (4, "null"),
        (5, '"x"'),
    ]
    assert whole.malformed[0]["reason"] == "expected an object, found a number"


def test_a_string_that_is_no_unicode_fails_alone():
    whole = read_bytes(b'[{"a":"1"},{"a":"\\ud800"},{"a":"\xff"},{"a":"\\u0000"}]')
    assert whole.numbers == [1, 4]
    assert [row["reason"] for row in whole.malformed] == ["holds half of a surrogate pair", "is not valid UTF-8"]


def test_a_column_with_a_reserved_name_gets_a_suffix_and_a_warning():
    whole = read_bytes(b'[{"_row_number": 7, "_line_number": 8}]')
    assert whole.plan.columns == ("_row_number_2", "_line_number_2")
    assert whole.numbers == [1]
    assert len(whole.plan.warnings) == 2


@pytest.mark.parametrize("text", [b"[]", b" \n[ \n] \n", b"\xef\xbb\xbf[]"])
def test_an_empty_array_is_a_table_without_rows(text):
    whole = read_bytes(text)
    assert (whole.plan.columns, whole.plan.rows, whole.plan.chunks) == ((), 0, ())


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (b'{\n "data": [1],\n "meta": {}\n}', 'found an object with the keys "data", "meta"'),
        (b"{\n}", "found an empty object"),
        (b'"x"', "found a string"),
        (b"12", "found a number"),
        (b"null", "found null"),
        (b"", "found nothing"),
        (b"hello", "found text that is not JSON"),
    ],
)
def test_another_shape_is_refused_saying_what_was_found(text, found):
    with pytest.raises(FormatError, match="Expected one top-level array of objects") as caught:
        read_bytes(text, format="json")
    assert found in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b'[{"a":1},{"a":}]', "Element 2 of the array, at byte 9, is not JSON: invalid character .byte 14"),
        (b'[{"a":1},{"a":NaN}]', "Element 2 .* at byte 9"),
        (b'[{"a":1},]', "Element 2 .* nothing between two commas"),
        (b'[{"a":1},,{"a":1}]', "Element 2 .* nothing between two commas"),
        (b'[{"a":1}', "not closed: the file ends at byte 8 inside element 1"),
        (b'[{"a":1},{"a":"', "not closed: the file ends at byte 15 inside element 2"),
        (b"[", "not closed"),
        (b'[{"a":1}] x', "more follows at byte 10"),
        (b'[{"a":1}][{"a":2}]', "more follows at byte 9"),
        (b'[{"a":1}}]', "Element 1"),
        (b'[{"a":},{"b":1}] x', "Element 1 of the array, at byte 1, is not JSON"),
        (b'[{"a":},{"b":1}}', "Element 1 of the array, at byte 1, is not JSON"),
        (b'[{"a":},{"b":1},{', "Element 1 of the array, at byte 1, is not JSON"),
    ],
)
def test_a_broken_file_is_refused_with_the_place(text, message):
    with pytest.raises(FormatError, match=message):
        read_bytes(text, format="json")


def test_a_broken_element_near_the_end_of_a_large_file_is_found():
    rows = [b'{"id":%d,"text":"%s"}' % (at, b"x" * 100) for at in range(30_000)]
    rows[-2] = b'{"id":oops}'
    text = b"[" + b",\n".join(rows) + b"]"
    with pytest.raises(
        FormatError, match=f"Element 29,999 of the array, at byte {text.index(b'oops') - 6:,}, is not JSON"
    ):
        read_bytes(text)


def test_an_element_above_the_cap_is_refused():
    stream = io.BytesIO(b'[{"a":"' + b"x" * (3 << 20) + b'"}]')
    with pytest.raises(FormatError, match="Element 1 of the array is larger than 2 MiB"):
        list(json_array.ArrayReader(stream, Limits(record_bytes=2 << 20)).blocks())


class Dribble(io.BytesIO):
    """Gives a few bytes at a time, so that every byte is once the border of a block."""

    def __init__(self, data: bytes, size: int) -> None:
        super().__init__(data)
        self.piece = size

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(self.piece)


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text('a"\\,[]{}é\n'),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('k"\\'), inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None)
@given(st.lists(values, max_size=8), st.integers(1, 40), st.sampled_from([None, 1]), st.sampled_from([1 << 20, 3]))
def test_blocks_may_end_anywhere(elements, size, indent, block):
    text = json.dumps(elements, indent=indent, ensure_ascii=False).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_array, "BLOCK", block)
        found = [one for part in json_array.ArrayReader(Dribble(text, size)).blocks() for one in part]
    assert json.dumps(json.loads(json.dumps(elements)), sort_keys=True) == json.dumps(plain(found), sort_keys=True)


def plain(value):
    if isinstance(value, json_array.NumberText):
        return float(value)
    if isinstance(value, list):
        return [plain(one) for one in value]
    return {key: plain(one) for key, one in value.items()} if isinstance(value, dict) else value
