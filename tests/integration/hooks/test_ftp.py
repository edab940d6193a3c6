"""FTP sources against a real server, plain and over TLS."""

from __future__ import annotations

import os
import socket
import threading
import warnings
from contextlib import contextmanager

import pytest
from OpenSSL import SSL

from airflow_provider_ingest.exceptions import SourceError
from airflow_provider_ingest.hooks.filesystem import FilesystemHook
from airflow_provider_ingest.hooks.ftp import FtpHook
from airflow_provider_ingest.importers.source import SourceSpec, SourceType
from tests.integration.hooks.certificates import self_signed

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from pyftpdlib.authorizers import DummyAuthorizer
    from pyftpdlib.handlers import DTPHandler, FTPHandler, TLS_DTPHandler, TLS_FTPHandler
    from pyftpdlib.ioloop import IOLoop
    from pyftpdlib.servers import FTPServer

CONTENT = b"sku,name\n" + b"A-1,Lamp\n" * 300_000


class Cutting:
    """Closes the connection in the middle of a file whose name says so."""

    def send(self, data):
        name = getattr(self.file_obj, "name", "")
        if "cut" in name and self.tot_bytes_sent > len(CONTENT) // 2:
            self.cmd_channel.close()
            self.close()
            return 0
        return super().send(data)


class CuttingData(Cutting, DTPHandler):
    pass


class CuttingTlsData(Cutting, TLS_DTPHandler):
    """Notes whether data connections go on with the session of the commands: common servers refuse others."""

    is_one_session = False

    def send(self, data):
        sent = super().send(data)
        CuttingTlsData.is_one_session = bool(SSL._lib.SSL_session_reused(self.socket._ssl)) if self.connected else False
        return sent


@contextmanager
def serving(handler, folder):
    authorizer = DummyAuthorizer()
    authorizer.add_user("shop", "secret", str(folder), perm="elr")

    class Handler(handler):
        pass

    Handler.authorizer = authorizer
    Handler.use_sendfile = False
    Handler.auth_failed_timeout = 0
    Handler.dtp_handler = CuttingTlsData if issubclass(handler, TLS_FTPHandler) else CuttingData
    server = FTPServer(("127.0.0.1", 0), Handler, ioloop=IOLoop())  # the default one is shared by all servers
    thread = threading.Thread(target=server.serve_forever, kwargs={"timeout": 0.05, "handle_exit": False}, daemon=True)
    thread.start()
    try:
        yield server.address[1]
    finally:
        server.close_all()
        thread.join(5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("ftp")
    (place / "incoming").mkdir()
    (place / "incoming" / "products.csv").write_bytes(CONTENT)
    (place / "incoming" / "märz.csv").write_bytes(b"a\n1\n")
    (place / "incoming" / "cut.csv").write_bytes(CONTENT)
    (place / "incoming" / "empty.csv").write_bytes(b"")
    return place


@pytest.fixture(scope="module")
def port(folder):
    with serving(FTPHandler, folder) as listening:
        yield listening


@pytest.fixture
def disk(port, connect):
    return connect("ftp_shop", conn_type="ftp", host="127.0.0.1", port=port, login="shop", password="secret")


@pytest.mark.parametrize("path", ["incoming/products.csv", "/incoming/products.csv"])
def test_a_file_is_read_whole(disk, fetch, path):
    got = fetch(FtpHook(disk, path))
    assert (got.name, got.content) == ("products.csv", CONTENT)


def test_a_server_that_opens_the_connection_itself_is_read_too(port, fetch, connect):
    login = {"host": "127.0.0.1", "port": port, "login": "shop", "password": "secret"}
    connect("active", conn_type="ftp", **login, extra={"passive": "false"})
    assert fetch(FtpHook("active", "incoming/products.csv")).content == CONTENT


def test_a_file_that_is_written_meanwhile_is_refused(disk, folder):
    path = folder / "incoming" / "changing.csv"
    path.write_bytes(CONTENT)
    with FtpHook(disk, "incoming/changing.csv").open() as stream:
        next(stream.blocks)
        os.utime(path, (1, 1))
        with pytest.raises(SourceError, match="was changed while it was read") as caught:
            list(stream.blocks)
    assert caught.value.retryable


def test_a_run_keeps_the_version_that_it_staged_first(disk, folder, stays_pinned):
    path = folder / "incoming" / "versions.csv"
    path.write_bytes(b"a\n1\n")
    source = SourceSpec(type=SourceType.FTP, options={"disk": disk, "path": "incoming/versions.csv"})
    stays_pinned(source, lambda: path.write_bytes(b"a\n2\n"))


def test_the_connection_test_says_whether_the_file_can_be_read(disk):
    assert FtpHook(disk, "incoming/products.csv").test_connection() == (True, "products.csv can be read.")
    is_good, why = FtpHook(disk, "incoming/missing.csv").test_connection()
    assert not is_good
    assert "is not there" in why


def test_a_name_with_an_umlaut_and_an_empty_file_are_read(disk, fetch):
    assert fetch(FtpHook(disk, "incoming/märz.csv")).content == b"a\n1\n"
    assert fetch(FtpHook(disk, "incoming/empty.csv")).content == b""


def test_a_file_of_the_disk_is_read_by_a_filesystem_source_too(disk, fetch):
    assert fetch(FilesystemHook("products.csv", f"{disk}:/incoming")).content == CONTENT


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("incoming/missing.csv", "is not there"),
        ("incoming", "is not there"),
        ("../etc/passwd", "'..' is not allowed"),
        ("incoming/*.csv", "is a pattern"),
        ("incoming/a\r\nDELE products.csv", "control characters"),
    ],
)
def test_a_path_that_names_no_file_is_refused_for_good(disk, fetch, path, message):
    with pytest.raises(SourceError, match=message) as caught:
        fetch(FtpHook(disk, path))
    assert not caught.value.retryable


def test_a_refused_login_is_final_and_shows_no_password(port, fetch, connect):
    connect("wrong", conn_type="ftp", host="127.0.0.1", port=port, login="shop", password="guess-7")
    with pytest.raises(SourceError, match="refuses the login") as caught:
        fetch(FtpHook("wrong", "incoming/products.csv"))
    assert not caught.value.retryable
    assert "guess-7" not in str(caught.value)


def test_a_cut_transfer_is_never_taken_for_whole(disk, fetch):
    with pytest.raises(SourceError, match=r"broke off|was cut") as caught:
        fetch(FtpHook(disk, "incoming/cut.csv"))
    assert caught.value.retryable


def test_a_server_that_is_not_there_is_worth_another_try(fetch, connect):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        connect("gone", conn_type="ftp", host="127.0.0.1", port=unused.getsockname()[1], login="a", password="b")
        with pytest.raises(SourceError, match="does not answer") as caught:
            fetch(FtpHook("gone", "a.csv"))
    assert caught.value.retryable


def test_over_tls_commands_and_data_are_encrypted_and_the_certificate_is_verified(folder, fetch, connect, tmp_path):
    certificate, key = self_signed(tmp_path)

    class Secure(TLS_FTPHandler):
        certfile = str(certificate)
        keyfile = str(key)
        tls_control_required = True
        tls_data_required = True

    login = {"conn_type": "ftp", "host": "127.0.0.1", "login": "shop", "password": "secret"}
    with serving(Secure, folder) as port:
        connect("trusting", **login, port=port, extra={"tls": True, "ca_file": str(certificate)})
        assert fetch(FtpHook("trusting", "incoming/products.csv")).content == CONTENT
        assert CuttingTlsData.is_one_session
        with pytest.raises(SourceError, match=r"broke off|was cut"):
            fetch(FtpHook("trusting", "incoming/cut.csv"))
        connect("careful", **login, port=port, extra={"tls": True})
        with pytest.raises(SourceError, match=r"certificate .* is not valid"):
            fetch(FtpHook("careful", "incoming/products.csv"))
        connect("plain", **login, port=port)
        with pytest.raises(SourceError, match="refuses the login"):
            fetch(FtpHook("plain", "incoming/products.csv"))
