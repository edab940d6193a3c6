"""URL sources against a real server: what is fetched, what is tried again, what is refused."""

from __future__ import annotations

import hashlib
import socket
import ssl

import pytest

from airflow_provider_ingest.exceptions import RunFailed, SourceError
from airflow_provider_ingest.hooks import url as url_source
from airflow_provider_ingest.hooks.addresses import is_public
from airflow_provider_ingest.hooks.url import UrlHook
from airflow_provider_ingest.importers.source import SourceSpec, SourceType
from tests.integration.hooks.certificates import self_signed
from tests.integration.hooks.http_server import CONTENT, serving


@pytest.fixture(scope="module")
def server():
    with serving() as running:
        yield running


@pytest.fixture
def hook(server):
    def make(path: str, **options):
        options = {"allow_private": True, "pauses": (0.0, 0.0), "timeout": 1.0, **options}
        return UrlHook(path if "://" in path else server.url + path, **options)

    return make


WHOLE = ["/good.csv", "/redirect", "/gzip", "/chunked", "/flaky", "/resumable", "/chunked-resumable"]


@pytest.mark.parametrize("path", [*WHOLE, "/märz.csv", "/m%C3%A4rz.csv", "/redirect-to-märz"])
def test_the_whole_file_comes_however_it_is_sent(hook, fetch, path):
    got = fetch(hook(path))
    assert got.content == CONTENT
    assert got.sha256 == hashlib.sha256(CONTENT).hexdigest()


def test_the_name_is_the_servers_without_its_path(hook, fetch):
    assert fetch(hook("/named")).name == "märz.csv"
    assert fetch(hook("/good.csv?token=secret")).name == "good.csv"


def test_what_is_kept_of_the_address_holds_no_secret(hook, fetch, server):
    url = server.url.replace("://", "://user:p%C3%A4ss@") + "/private?token=secret#part"
    facts = fetch(hook(url)).facts
    assert facts["url"] == server.url + "/private"
    assert "secret" not in str(facts)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/cut", "broke off after 100,000 bytes .* cannot be resumed"),
        ("/chunked-cut", "broke off after .* cannot be resumed"),
        ("/chunked-short", "broke off after .* cannot be resumed"),
        ("/never-ended", "broke off after .* does not resume it"),
        ("/drips", "does not answer"),
        ("/cut-in-its-head", "broke off after 0 bytes"),
        ("/gzip-cut", "ends before its end"),
        ("/replaced", "does not resume it"),
        ("/stalls", "broke off after 1,000 bytes"),
        ("/silent", "does not answer"),
        ("/broken", "answers 500 Internal Server Error"),
    ],
)
def test_a_failure_that_may_pass_is_worth_another_try_and_never_gives_a_short_file(hook, fetch, path, message):
    waits = {"/silent": {"timeout": 0.3}, "/stalls": {"timeout": 0.3}, "/drips": {"timeout": 0.1, "pauses": ()}}
    with pytest.raises(SourceError, match=message) as caught:
        fetch(hook(path, **waits.get(path, {})))
    assert caught.value.retryable


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/nothing", "answers 404 Not Found"),
        ("/forbidden", "answers 403 Forbidden"),
        ("/private", "answers 401"),
        ("/loop", "redirects more than 5 times"),
        ("/brotli", "packed as 'br'"),
        ("/bomb", "more than 300 times its size"),
        ("/redirect-to-nothing", "malformed"),
    ],
)
def test_a_failure_that_will_not_pass_is_final(hook, fetch, server, path, message):
    before = server.hits[path]
    with pytest.raises(RunFailed, match=message) as caught:
        fetch(hook(path))
    assert not caught.value.retryable
    assert server.hits[path] - before <= 6


def test_a_server_error_is_tried_again(hook, fetch, server):
    before = server.hits["/broken"]
    with pytest.raises(SourceError):
        fetch(hook("/broken"))
    assert server.hits["/broken"] - before == 3


def test_a_file_above_the_limit_is_refused_while_it_comes(hook, fetch):
    with pytest.raises(SourceError, match="max_source_bytes"):
        fetch(hook("/good.csv"), max_bytes=10_000)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://example.org/a", "/etc/passwd", "gopher://x/", "http://"])
def test_only_http_and_https_are_read(hook, fetch, url):
    with pytest.raises(SourceError):
        fetch(UrlHook(url, allow_private=True, pauses=()))


@pytest.mark.parametrize("host", ["169.254.169.254", "[::ffff:169.254.169.254]", "[fd00:ec2::254]", "100.100.100.200"])
def test_addresses_where_clouds_hand_out_credentials_stay_closed_to_private_networks_too(fetch, host):
    with pytest.raises(SourceError, match="hands out credentials"):
        fetch(UrlHook(f"http://{host}/latest/meta-data", allow_private=True, pauses=()))


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "[::1]",
        "10.1.2.3",
        "169.254.169.254",
        "0.0.0.0",
        "[::ffff:127.0.0.1]",
        "2130706433",
        "0x7f.1",
    ],
)
def test_private_and_local_addresses_are_refused_however_they_are_written(fetch, host):
    with pytest.raises(SourceError, match=r"private or local address|cannot be found"):
        fetch(UrlHook(f"http://{host}/a.csv", pauses=()))


@pytest.mark.parametrize(
    "address",
    [
        "100.64.0.1",
        "192.168.0.1",
        "172.16.0.1",
        "224.0.0.1",
        "fe80::1",
        "fd00::1",
        "2002:7f00:1::",
        "64:ff9b::a00:1",
        "64:ff9b:1::a00:1",
        "::10.0.0.1",
        "::ffff:0:169.254.169.254",
        "fec0::1",
        "192.0.0.8",
        "168.63.129.16",
        "::",
    ],
)
def test_an_address_that_is_not_public_is_recognised_in_every_wrapping(address):
    import ipaddress

    assert not is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "target", ["http://169.254.169.254/latest", "http://[::1]/", "file:///etc/passwd", "//10.0.0.1/x"]
)
def test_a_redirect_is_checked_like_the_url_itself(monkeypatch, fetch, server, target):
    """The first host counts as public here, so that only the redirect can be what is refused."""
    real = socket.getaddrinfo

    def resolve(host, port, **options):
        return real("127.0.0.1", port, **options) if host == "public.example" else real(host, port, **options)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    monkeypatch.setattr(
        "airflow_provider_ingest.hooks.addresses.is_public", lambda address: str(address) == "127.0.0.1"
    )
    server.elsewhere = target
    with pytest.raises(SourceError, match=r"private or local|reads http and https"):
        fetch(UrlHook(f"http://public.example:{server.server_port}/away", pauses=()))


def test_the_connection_goes_to_the_address_that_was_checked(monkeypatch, fetch, server):
    """A name that resolves to another address at the second look gains nothing: there is no second look."""
    looks = []
    real = socket.getaddrinfo

    def resolve(host, port, **options):
        looks.append(host)
        return real("127.0.0.1" if len(looks) == 1 else "10.255.255.1", port, **options)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    url = f"http://changing.example:{server.server_port}/good.csv"
    assert fetch(UrlHook(url, allow_private=True, pauses=(), timeout=1)).content == CONTENT
    assert looks == ["changing.example"]


def test_a_transfer_has_an_end_however_slowly_it_comes(hook, fetch, monkeypatch):
    monkeypatch.setattr(url_source, "LONGEST", -1)
    with pytest.raises(SourceError, match="still not through"):
        fetch(hook("/good.csv"))


def test_the_connection_test_says_whether_the_file_can_be_read(hook):
    assert hook("/good.csv").test_connection() == (True, "good.csv can be read.")
    is_good, why = hook("/nothing").test_connection()
    assert not is_good
    assert "404" in why


def test_a_run_keeps_the_version_that_it_staged_first(server, stays_pinned):
    server.version = 0
    source = SourceSpec(type=SourceType.URL, options={"url": server.url + "/versions.csv"})
    stays_pinned(source, lambda: setattr(server, "version", 1))


def test_only_allowed_hosts_are_asked(hook, fetch):
    assert fetch(hook("/good.csv", allowed_hosts=("127.0.0.1",))).content == CONTENT
    with pytest.raises(SourceError, match="allowed_url_hosts"):
        fetch(hook("/good.csv", allowed_hosts=("*.example.org", "example.net")))


def test_a_certificate_is_verified(fetch, tmp_path):
    certificate, key = self_signed(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with serving(context) as secure:
        with pytest.raises(SourceError, match=r"certificate of 127\.0\.0\.1 is not valid"):
            fetch(UrlHook(secure.url + "/good.csv", allow_private=True, pauses=()))
        trusting = ssl.create_default_context(cafile=str(certificate))
        hook = UrlHook(secure.url + "/good.csv", allow_private=True, pauses=(), context=trusting)
        assert fetch(hook).content == CONTENT


def test_a_server_that_is_not_there_is_worth_another_try(fetch):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        with pytest.raises(SourceError, match="does not answer") as caught:
            fetch(UrlHook(f"http://127.0.0.1:{port}/a", allow_private=True, pauses=()))
    assert caught.value.retryable
