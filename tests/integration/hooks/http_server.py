"""An HTTP server that misbehaves on request."""

from __future__ import annotations

import contextlib
import gzip
import ssl
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

CONTENT = b"sku,name\n" + b"".join(b"A-%06d,Lamp\n" % n for n in range(40_000))
"""What every good answer gives: about half a megabyte."""


class Server(ThreadingHTTPServer):
    """Counts requests by path and keeps the headers of each."""

    daemon_threads = True

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.hits: Counter[str] = Counter()
        self.seen: list[tuple[str, dict[str, str]]] = []
        self.elsewhere = ""
        self.scheme = "http"
        self.version = 0

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    """Each path is one behaviour."""

    server: Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path = unquote(self.path.split("?")[0])
        self.server.hits[path] += 1
        self.server.seen.append((self.path, dict(self.headers)))
        behaviour = getattr(self, "at_" + path.strip("/").split("/")[0].replace(".", "_").replace("-", "_"), None)
        if behaviour is None:
            self.answer(404, b"no")
        else:
            behaviour()
        self.close_connection = True

    def answer(self, status: int, body: bytes, **headers: Any) -> None:
        self.send_response(status)
        for name, value in {"Content_Length": len(body), **headers}.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()
        self.wfile.write(body)

    def at_good_csv(self) -> None:
        self.answer(200, CONTENT, ETag='"1"')

    def at_versions_csv(self) -> None:
        self.answer(200, CONTENT + b"%d" % self.server.version)

    def at_named(self) -> None:
        self.answer(200, CONTENT, Content_Disposition='attachment; filename="../../märz.csv"')

    def at_gzip(self) -> None:
        self.answer(200, gzip.compress(CONTENT), Content_Encoding="gzip")

    def at_gzip_cut(self) -> None:
        packed = gzip.compress(CONTENT)[:-20]
        self.answer(200, packed, Content_Encoding="gzip")

    def at_brotli(self) -> None:
        self.answer(200, CONTENT, Content_Encoding="br")

    def at_chunked(self) -> None:
        self._chunked(len(CONTENT))

    def at_chunked_cut(self) -> None:
        self._chunked(len(CONTENT) // 2, is_ended=False)

    def _chunked(self, length: int, *, is_ended: bool = True, **headers: str) -> None:
        self.send_response(200)
        for name, value in {"Transfer-Encoding": "chunked", **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        for start in range(0, length, 60_000):
            piece = CONTENT[start : min(start + 60_000, length)]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        if is_ended:
            self.wfile.write(b"0\r\n\r\n")

    def at_chunked_resumable(self) -> None:
        """Says nothing of its size, ends early, and gives the rest when asked for it."""
        self._chunked_then(len(CONTENT))

    def at_chunked_short(self) -> None:
        """The same, but the rest ends early too."""
        self._chunked_then(1000)

    def _chunked_then(self, length: int) -> None:
        half = len(CONTENT) // 2
        if "Range" not in self.headers:
            self._chunked(half, is_ended=False, ETag='"1"')
            return
        start = int(self.headers["Range"][6:].rstrip("-"))
        place = {"Content_Range": f"bytes {start}-{len(CONTENT) - 1}/{len(CONTENT)}", "ETag": '"1"'}
        self.answer(206, CONTENT[start:][:length], Content_Length=len(CONTENT) - start, **place)

    def at_never_ended(self) -> None:
        """All bytes, but no end; there is no rest to ask for."""
        if "Range" in self.headers:
            self.answer(416, b"no", Content_Range=f"bytes */{len(CONTENT)}")
        else:
            self._chunked(len(CONTENT), is_ended=False, ETag='"1"')

    def at_bomb(self) -> None:
        self.answer(200, gzip.compress(bytes(80 << 20)), Content_Encoding="gzip")

    def at_märz_csv(self) -> None:
        self.answer(200, CONTENT)

    def at_redirect_to_märz(self) -> None:
        self.answer(302, b"", Location="/märz.csv".encode().decode("latin-1"))

    def at_redirect_to_nothing(self) -> None:
        self.answer(302, b"", Location="http://[::1/x")

    def at_drips(self) -> None:
        """Sends a header byte by byte, for ever."""
        self.wfile.write(b"HTTP/1.1 200 OK\r\nX: ")
        with contextlib.suppress(OSError):
            for _ in range(200):
                self.wfile.write(b"x")
                self.wfile.flush()
                time.sleep(0.05)

    def at_cut_in_its_head(self) -> None:
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: te")

    def at_cut(self) -> None:
        """Always ends early, cannot be resumed."""
        self.answer(200, CONTENT[:100_000], Content_Length=len(CONTENT))

    def at_resumable(self) -> None:
        """Ends early each time, gives the rest when asked for it."""
        self._ranged(CONTENT, '"1"')

    def at_replaced(self) -> None:
        """Ends early, and is another version when asked for the rest."""
        if "Range" in self.headers:
            self.answer(200, CONTENT, ETag='"2"')
        else:
            self._ranged(CONTENT, '"1"')

    def _ranged(self, content: bytes, etag: str) -> None:
        start = int((self.headers.get("Range") or "bytes=0-")[6:].rstrip("-"))
        rest = content[start:]
        headers: dict[str, Any] = {"Content_Length": len(rest), "ETag": etag}
        if start:
            assert self.headers["If-Range"] == etag
            headers["Content_Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
            self.answer(206, rest[:200_000], **headers)
        else:
            self.answer(200, rest[:200_000], **headers)

    def at_flaky(self) -> None:
        if self.server.hits["/flaky"] < 3:
            self.answer(503, b"wait")
        else:
            self.answer(200, CONTENT)

    def at_broken(self) -> None:
        self.answer(500, b"oh")

    def at_forbidden(self) -> None:
        self.answer(403, b"no")

    def at_silent(self) -> None:
        time.sleep(3)

    def at_stalls(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        self.wfile.write(CONTENT[:1000])
        self.wfile.flush()
        time.sleep(3)

    def at_redirect(self) -> None:
        self.answer(302, b"", Location="/good.csv")

    def at_loop(self) -> None:
        self.answer(302, b"", Location="/loop")

    def at_away(self) -> None:
        self.answer(307, b"", Location=self.server.elsewhere)

    def at_private(self) -> None:
        if self.headers.get("Authorization") == "Basic dXNlcjpww6Rzcw==":  # user:päss
            self.answer(200, CONTENT)
        else:
            self.answer(401, b"who")

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def serving(context: ssl.SSLContext | None = None, port: int = 0) -> Iterator[Server]:
    """A server on this port of the loopback address, or on a free one."""
    server = Server(port)
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        server.scheme = "https"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
