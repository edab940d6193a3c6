"""What an http connection gives a URL source: headers, a login, an authority; and to whom."""

from __future__ import annotations

import ssl

import pytest

from airflow_provider_ingest.exceptions import SourceError
from airflow_provider_ingest.hooks.addresses import may_know
from airflow_provider_ingest.hooks.url import UrlHook
from tests.integration.hooks.certificates import self_signed
from tests.integration.hooks.http_server import CONTENT, serving


@pytest.fixture(scope="module")
def server():
    with serving() as running:
        yield running


@pytest.fixture
def hook():
    def make(url: str, conn_id: str):
        return UrlHook(url, conn_id=conn_id, allow_private=True, pauses=(0.0,), timeout=1.0)

    return make


def test_a_login_goes_to_the_urls_own_origin_only(hook, fetch, server, connect):
    connect("web", conn_type="http", login="user", password="päss", extra={"headers": {"X-Key": "k"}})
    assert fetch(hook(server.url + "/private", "web")).content == CONTENT
    with serving() as other:
        server.elsewhere = other.url + "/good.csv"
        assert fetch(hook(server.url + "/away", "web")).content == CONTENT
        headers = {name.lower() for name in other.seen[-1][1]}
    assert not headers & {"authorization", "x-key"}
    asked = next(headers for path, headers in reversed(server.seen) if path == "/away")
    assert asked["X-Key"] == "k"


@pytest.mark.parametrize(
    ("other", "may"),
    [
        (("http", "a.org", 80), True),
        (("https", "a.org", 443), True),
        (("https", "a.org", 8443), False),
        (("https", "b.org", 443), False),
        (("http", "a.org", 8080), False),
    ],
)
def test_a_login_goes_along_to_the_https_of_the_same_host(other, may):
    assert may_know(("http", "a.org", 80), other) is may
    assert not may_know(("https", "a.org", 443), ("http", "a.org", 80))


def test_an_extra_holds_headers_as_airflows_http_hook_takes_them(hook, fetch, server, connect):
    extra = {"Authorization": "Bearer t", "X-Key": 7, "verify": True, "timeout": 5, "proxies": {"http": "x"}}
    connect("web", conn_type="http", login="user", password="other", extra=extra)
    assert fetch(hook(server.url + "/good.csv", "web")).content == CONTENT
    sent = server.seen[-1][1]
    assert (sent["Authorization"], sent["X-Key"]) == ("Bearer t", "7")
    assert not {"verify", "timeout", "proxies"} & set(sent)


def test_a_header_that_cannot_be_sent_is_refused_without_its_value(hook, fetch, server, connect):
    connect("web", conn_type="http", extra={"X-Key": "secret\nvalue"})
    with pytest.raises(SourceError, match="cannot be sent") as caught:
        fetch(hook(server.url + "/good.csv", "web"))
    assert "secret" not in str(caught.value)
    assert not caught.value.retryable


def test_a_connection_that_is_not_there_is_named(hook, fetch, server):
    with pytest.raises(SourceError, match="'nobody'"):
        fetch(hook(server.url + "/good.csv", "nobody"))


def test_a_connection_says_which_authority_is_trusted(hook, fetch, connect, tmp_path):
    certificate, key = self_signed(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with serving(context) as secure:
        connect("plain", conn_type="http")
        with pytest.raises(SourceError, match=r"certificate of 127\.0\.0\.1 is not valid"):
            fetch(hook(secure.url + "/good.csv", "plain"))
        for verify in (str(certificate), False, "false"):
            connect("own", conn_type="http", extra={"verify": verify})
            assert fetch(hook(secure.url + "/good.csv", "own")).content == CONTENT
        connect("lost", conn_type="http", extra={"verify": str(tmp_path / "missing.pem")})
        with pytest.raises(SourceError, match="certificate file that the connection 'lost' names"):
            fetch(hook(secure.url + "/good.csv", "lost"))


def test_a_client_shows_the_certificate_of_its_connection(hook, fetch, connect, tmp_path):
    certificate, key = self_signed(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(certificate)
    with serving(context) as secure:
        connect("known", conn_type="http", extra={"verify": str(certificate), "cert": [str(certificate), str(key)]})
        assert fetch(hook(secure.url + "/good.csv", "known")).content == CONTENT
        connect("unknown", conn_type="http", extra={"verify": str(certificate)})
        with pytest.raises(SourceError):
            fetch(hook(secure.url + "/good.csv", "unknown"))
