"""Files in gzip, zip or zstd: whole, cut off, damaged, and with traps."""

import gzip
import io
import zipfile

import pytest
import zstandard

from airflow_provider_ingest.exceptions import FormatError, UnsupportedFile
from airflow_provider_ingest.formats.compression import READ, inflate_to, open_inflated
from airflow_provider_ingest.formats.limits import Limits
from tests.unit.formats.tables import read_bytes

ROWS = b"".join(b'{"id": %d}\n' % at for at in range(5000))


def zipped(*members: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return buffer.getvalue()


def inflate(data: bytes, compression: str, **limits: int) -> bytes:
    with open_inflated(io.BytesIO(data), compression, Limits(**limits)) as content:
        return content.read()


COMPRESSED = {
    "gzip": gzip.compress(ROWS),
    "zstd": zstandard.compress(ROWS),
    "zip": zipped(("in/rows.ndjson", ROWS)),
}


@pytest.mark.parametrize("compression", COMPRESSED)
def test_rows_inside_are_the_same_as_outside(compression):
    whole = read_bytes(COMPRESSED[compression])
    assert [row["id"] for row in whole.rows] == [str(at) for at in range(5000)]
    assert whole.plan.facts["compression"] == compression


@pytest.mark.parametrize("compression", COMPRESSED)
def test_a_csv_inside_is_read_too(compression):
    text = b"id,name\n" + b"".join(b"%d,n\n" % at for at in range(100))
    compress = {"gzip": gzip.compress, "zstd": zstandard.compress, "zip": lambda data: zipped(("a.csv", data))}
    whole = read_bytes(compress[compression](text), chunk_rows=30)
    assert [row["id"] for row in whole.rows] == [str(at) for at in range(100)]
    assert whole.plan.facts["format"] == "csv"


@pytest.mark.parametrize("size", [READ, READ + 1, READ + 5, READ + 100, READ + 258, 2 * READ])
@pytest.mark.parametrize("text", [b"0", b"1,abc,def\n"])
def test_a_member_is_whole_whatever_the_inflater_holds_back_at_its_end(size, text):
    content = (text * (size // len(text) + 1))[:size]
    assert inflate(zipped(("a.csv", content)), "zip") == content


def test_a_stored_member_is_read():
    assert read_bytes(zipped(("a", ROWS), method=zipfile.ZIP_STORED)).plan.rows == 5000


def test_several_gzip_or_zstd_pieces_one_after_the_other_are_one_file():
    half = ROWS.index(b"\n", 20_000) + 1
    assert inflate(gzip.compress(ROWS[:half]) + gzip.compress(ROWS[half:]) + b"\0" * 512, "gzip") == ROWS
    assert inflate(zstandard.compress(ROWS[:half]) + zstandard.compress(ROWS[half:]), "zstd") == ROWS


@pytest.mark.parametrize("compression", COMPRESSED)
def test_a_file_cut_off_anywhere_is_never_taken_for_whole(compression):
    data = COMPRESSED[compression]
    for end in range(30, len(data), max(len(data) // 37, 1)):
        with pytest.raises((FormatError, UnsupportedFile)):
            read_bytes(data[:end])


@pytest.mark.parametrize("compression", ["gzip", "zip"])
def test_a_flipped_bit_is_noticed(compression):
    data = bytearray(COMPRESSED[compression])
    data[len(data) // 2] ^= 4
    with pytest.raises(FormatError, match="damaged"):
        inflate(bytes(data), compression)


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ((), "holds 0 files"),
        ((("a.csv", b"a"), ("b.csv", b"b")), "holds 2 files"),
        ((("../a.csv", b"a"),), "leaves its directory"),
        ((("/etc/a.csv", b"a"),), "leaves its directory"),
        ((("C:/a.csv", b"a"),), "leaves its directory"),
        ((("..\\a.csv", b"a"),), "leaves its directory"),
    ],
)
def test_a_zip_with_several_members_or_path_tricks_is_refused(members, message):
    with pytest.raises(FormatError, match=message):
        read_bytes(zipped(*members))


def test_folders_and_shadow_entries_of_macos_do_not_count():
    data = zipped(("in/", b""), ("in/rows.ndjson", ROWS), ("__MACOSX/in/._rows.ndjson", b"\0\5"))
    assert read_bytes(data).plan.rows == 5000


def test_an_encrypted_or_rarely_compressed_zip_is_refused():
    data = bytearray(zipped(("a.csv", b"a,b\n")))
    directory = data.index(b"PK\x01\x02")
    data[directory + 8] |= 1
    with pytest.raises(FormatError, match="encrypted"):
        inflate(bytes(data), "zip")
    with pytest.raises(FormatError, match="other than deflate"):
        inflate(zipped(("a.csv", b"a,b\n"), method=zipfile.ZIP_BZIP2), "zip")


@pytest.mark.parametrize("compress", [gzip.compress, zstandard.compress, lambda data: zipped(("a", data))])
def test_two_layers_are_refused(compress):
    for inner in (gzip.compress(ROWS), zstandard.compress(ROWS), zipped(("a.csv", ROWS))):
        with pytest.raises((FormatError, UnsupportedFile), match=r"another compressed file|more than once"):
            read_bytes(compress(inner))


@pytest.mark.parametrize("compression", COMPRESSED)
def test_size_and_ratio_are_capped_while_inflating(compression):
    with pytest.raises(FormatError, match="inflates to more than 0 MiB"):
        inflate(COMPRESSED[compression], compression, inflated_bytes=10_000)
    zeros = {"gzip": gzip.compress(bytes(1 << 20)), "zstd": zstandard.compress(bytes(1 << 20))}
    data = zeros.get(compression) or zipped(("a", bytes(1 << 20)))
    with pytest.raises(FormatError, match="more than 50 times its size"):
        inflate(data, compression, ratio_from=1000, inflate_ratio=50)


def test_a_zip_whose_directory_states_a_wrong_size_is_refused():
    data = bytearray(zipped(("a.csv", bytes(100_000))))
    directory = data.index(b"PK\x01\x02")
    data[directory + 24 : directory + 28] = (100).to_bytes(4, "little")
    with pytest.raises(FormatError, match="not as its directory says"):
        inflate(bytes(data), "zip")


def test_a_zip_with_too_many_entries_or_a_vast_directory_is_refused():
    data = zipped(*((f"f{at}", b"") for at in range(30)))
    with pytest.raises(FormatError, match="more than 20 entries"):
        inflate(data, "zip", zip_entries=20)
    with pytest.raises(FormatError, match="directory is larger"):
        inflate(data, "zip", zip_directory_bytes=500)


def test_inflating_to_a_file_gives_its_size(tmp_path):
    assert inflate_to(io.BytesIO(COMPRESSED["zstd"]), "zstd", tmp_path / "out") == len(ROWS)
    assert (tmp_path / "out").read_bytes() == ROWS


def test_a_member_that_lies_before_the_file_is_damage():
    data = bytearray(zipped(("a.json", b"[1]")))
    data[data.rindex(b"PK\5\6") + 16] += 40  # where the directory is said to begin: later than it does
    with pytest.raises(FormatError, match="damaged"):
        read_bytes(bytes(data))
