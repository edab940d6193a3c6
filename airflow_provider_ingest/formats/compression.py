"""gzip, zstd and ZIP around a file: inflated as a stream, one layer deep, with caps on size and ratio."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

from airflow_provider_ingest.exceptions import FormatError, InflatesTooFar
from airflow_provider_ingest.formats.limits import LIMITS, MIB, Limits

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
ZIP_MAGIC = b"PK\x03\x04"
READ = 256 * 1024
ZSTD_READ = 2 * 1024  # a hostile block of four bytes inflates to 128 KiB: small bites keep memory flat


class Inflated(io.RawIOBase):
    """What a compressed file holds, read from start to end.

    Raises :class:`FormatError` while reading if the content is damaged, cut off, compressed again, or above a cap.
    """

    def __init__(self, pieces: Iterator[bytes], consumed: Callable[[], int], limits: Limits = LIMITS) -> None:
        """:param pieces: inflated bytes. :param consumed: how many compressed bytes they have cost so far."""
        self._pieces = pieces
        self._consumed = consumed
        self._limits = limits
        self._held = memoryview(b"")
        self._total = 0

    def readable(self) -> bool:
        """Always."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Up to ``size`` bytes, fewer only at the end."""
        parts: list[memoryview] = []
        wanted = size if size >= 0 else self._limits.inflated_bytes
        while wanted:
            if not self._held and not self._next():
                break
            part = self._held[:wanted]
            self._held = self._held[len(part) :]
            wanted -= len(part)
            parts.append(part)
        return b"".join(parts)

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer."""
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def _next(self) -> bool:
        for piece in self._pieces:
            if not piece:
                continue
            if not self._total and compression_of(piece) in ("gzip", "zstd"):
                raise FormatError("The compressed file holds another compressed file; one layer is read.")
            self._total += len(piece)
            check_size(self._total, self._consumed(), self._limits)
            self._held = memoryview(piece)
            return True
        return False


def compression_of(head: bytes) -> Literal["gzip", "zip", "zstd"] | None:
    """``gzip``, ``zstd`` or ``zip`` by the first bytes, else ``None``."""
    if head.startswith(GZIP_MAGIC):
        return "gzip"
    if head.startswith(ZSTD_MAGIC):
        return "zstd"
    return "zip" if head.startswith((ZIP_MAGIC, b"PK\x05\x06")) else None


def check_size(inflated: int, compressed: int, limits: Limits) -> None:
    """Refuse what inflates to too much, or to suspiciously much for its size."""
    if inflated > limits.inflated_bytes:
        raise InflatesTooFar(f"The compressed file inflates to more than {limits.inflated_bytes // MIB:,} MiB.")
    if inflated > limits.ratio_from and inflated > limits.inflate_ratio * max(compressed, 1):
        raise InflatesTooFar(f"The compressed file inflates to more than {limits.inflate_ratio} times its size.")


@contextmanager
def open_inflated(file: Any, compression: str, limits: Limits = LIMITS) -> Iterator[Inflated]:
    """The content of an open compressed file.

    :param file: binary and seekable. :param compression: as :func:`compression_of` says.
    """
    if compression == "zip":
        with open_zip(file, limits) as archive:
            member = only_member(archive, limits)
            yield Inflated(inflate_member(file, member, limits), lambda: max(member.compress_size, 1), limits)
        return
    start = file.tell()
    pieces = (_gzip if compression == "gzip" else _zstd)(file)
    yield Inflated(pieces, lambda: file.tell() - start, limits)


@contextmanager
def open_zip(file: Any, limits: Limits = LIMITS) -> Iterator[zipfile.ZipFile]:
    """A ZIP container whose directory is of a sane size."""
    with _zip_errors(), zipfile.ZipFile(_CappedReads(file, limits.zip_directory_bytes)) as archive:  # type: ignore[arg-type]
        if len(archive.infolist()) > limits.zip_entries:
            raise FormatError(f"The ZIP file has more than {limits.zip_entries:,} entries.")
        yield archive


def only_member(archive: zipfile.ZipFile, limits: Limits = LIMITS) -> zipfile.ZipInfo:
    """The one file in a ZIP container; directories and macOS's shadow entries do not count."""
    members = [one for one in archive.infolist() if not one.is_dir() and not one.filename.startswith("__MACOSX/")]
    if len(members) != 1:
        raise FormatError(f"The ZIP file holds {len(members)} files; exactly one is read.")
    member = members[0]
    parts = member.filename.replace("\\", "/").split("/")
    if ".." in parts or not parts[0] or ":" in parts[0]:
        raise FormatError("The ZIP file's member has a path that leaves its directory.")
    check_member(member)
    check_size(member.file_size, member.compress_size, limits)
    return member


def check_member(member: zipfile.ZipInfo) -> None:
    """Refuse a member that is encrypted or compressed in a rare way."""
    if member.flag_bits & 0x1:
        raise FormatError("The ZIP file is encrypted; upload it without a password.")
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise FormatError("The ZIP file uses a compression other than deflate.")


def inflate_to(file: Any, compression: str, target: Any, limits: Limits = LIMITS) -> int:
    """Write the content of an open compressed file to the path ``target``; its size in bytes."""
    size = 0
    with open_inflated(file, compression, limits) as content, target.open("wb") as copy:
        while data := content.read(MIB):
            copy.write(data)
            size += len(data)
    return size


class _CappedReads:
    """A file of which no single read is larger than the cap: ``zipfile`` reads the whole directory at once."""

    def __init__(self, file: Any, cap: int) -> None:
        self._file = file
        self._cap = cap

    def read(self, size: int = -1) -> bytes:
        if size > self._cap:
            raise FormatError(f"The ZIP file's directory is larger than {self._cap // MIB} MiB.")
        data: bytes = self._file.read(size)
        return data

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


@contextmanager
def _zip_errors() -> Iterator[None]:
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, UnicodeDecodeError) as error:
        raise FormatError(f"The ZIP file is damaged or cut off: {error}.") from error


def inflate_member(file: Any, member: zipfile.ZipInfo, limits: Limits = LIMITS) -> Iterator[bytes]:
    """A member's content, whatever size the directory states; refused at the end if it stated a wrong one."""
    file.seek(max(member.header_offset, 0))  # a damaged directory's offset is negative
    header = file.read(30)
    if member.header_offset < 0 or len(header) < 30 or not header.startswith(ZIP_MAGIC):
        raise FormatError("The ZIP file is damaged: a member is not where its directory says.")
    file.seek(int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little"), 1)
    is_stored = member.compress_type == zipfile.ZIP_STORED
    inflater = zlib.decompressobj(wbits=-15)
    left, size, checksum = member.compress_size, 0, 0
    data = b""
    while not inflater.eof:
        if not data and left:
            data = file.read(min(READ, left))
            left = left - len(data) if data else 0
        if is_stored:
            piece, data = data, b""
        else:
            with _zip_errors():
                piece = inflater.decompress(data, READ)  # may have more to give when all of the input was taken
            data = inflater.unconsumed_tail
        if not (piece or data or left):
            break
        size += len(piece)
        check_size(size, member.compress_size, limits)
        checksum = zlib.crc32(piece, checksum)
        yield piece
    if size != member.file_size or checksum != member.CRC or not (is_stored or inflater.eof):
        raise FormatError("The ZIP file is damaged: a member's size or checksum is not as its directory says.")


def _gzip(file: Any) -> Iterator[bytes]:
    """Inflate one gzip member after the other; zero padding behind the last one is allowed."""
    inflater = None
    data = file.read(READ)
    while data:
        if inflater is None:
            if not data.strip(b"\0"):
                data = file.read(READ)
                continue
            inflater = zlib.decompressobj(wbits=31)
        try:
            yield inflater.decompress(data, READ)
        except zlib.error as error:
            raise FormatError(f"The gzip file is damaged: {error}.") from error
        if inflater.eof:
            data, inflater = inflater.unused_data or file.read(READ), None
        else:
            data = inflater.unconsumed_tail or file.read(READ)
    if inflater is not None:
        raise FormatError("The gzip file is cut off.")


def _zstd(file: Any) -> Iterator[bytes]:
    """Inflate one zstd frame after the other."""
    import zstandard

    decompressor = zstandard.ZstdDecompressor(max_window_size=128 * MIB)
    inflater = None
    data = file.read(ZSTD_READ)
    while data:
        if inflater is None:
            inflater = decompressor.decompressobj()
        try:
            yield inflater.decompress(data)
        except zstandard.ZstdError as error:
            raise FormatError(f"The zstd file is damaged: {error}.") from error
        if inflater.eof:
            data, inflater = inflater.unused_data or file.read(ZSTD_READ), None
        else:
            data = file.read(ZSTD_READ)
    if inflater is not None:
        raise FormatError("The zstd file is cut off.")
