"""Which addresses a URL may lead to, and a connection that goes to the address that was checked."""

from __future__ import annotations

import http.client
import ipaddress
import socket
import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, unquote, urlsplit

from airflow_provider_ingest.exceptions import SourceError

if TYPE_CHECKING:
    from collections.abc import Callable

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Origin = tuple[str, str | None, int]
"""Scheme, host and port."""

_WRAPPED = tuple(map(ipaddress.ip_network, ("64:ff9b::/96", "::/96", "::ffff:0:0:0/96")))
"""IPv6 networks whose addresses end with an IPv4 one: NAT64, and two old ways to write one."""

_CLOSED = tuple(map(ipaddress.ip_network, ("64:ff9b:1::/48", "fec0::/10", "192.0.0.0/24", "168.63.129.16/32")))
"""What registries or their old tables call global and is not: NAT64 of one's own, site-local, the protocols' own, and
the address at which Azure speaks to its machines.
"""


_CREDENTIALS = tuple(
    map(
        ipaddress.ip_network,
        ("169.254.169.254/32", "169.254.170.0/24", "fd00:ec2::/32", "100.100.100.200/32", "168.63.129.16/32"),
    )
)
"""Where clouds hand a machine its credentials: Amazon, Google, Azure, Oracle and others at the first address, Amazon's
containers at the second, Amazon by IPv6, Alibaba, Azure's own.
"""


def is_public(address: Address) -> bool:
    """Whether an address belongs to the public internet, whatever it is wrapped in.

    >>> [is_public(ipaddress.ip_address(a)) for a in ("1.1.1.1", "169.254.169.254", "::1", "::ffff:10.0.0.1")]
    [True, False, False, False]
    """
    address = _unwrapped(address)
    is_closed = any(address in network for network in _CLOSED)
    return address.is_global and not address.is_multicast and not is_closed


def hands_out_credentials(address: Address) -> bool:
    """Whether whoever asks there is told a machine's credentials: no network of one's own holds files at it.

    >>> [hands_out_credentials(ipaddress.ip_address(a)) for a in ("169.254.169.254", "::ffff:a9fe:a9fe", "10.0.0.1")]
    [True, True, False]
    """
    address = _unwrapped(address)
    return any(address in network for network in _CREDENTIALS)


def _unwrapped(address: Address) -> Address:
    """The IPv4 address that an IPv6 one holds, if it does."""
    if not isinstance(address, ipaddress.IPv6Address):
        return address
    inner = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
    if inner is None and any(address in network for network in _WRAPPED):
        inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return inner or address


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkRules:
    """What URL sources may reach.

    :param allowed_hosts: names, ``*.example.org`` for any name below; empty for all.
    :param allow_private: whether private, loopback and link-local addresses are reachable; never those at which a cloud
        hands out credentials.
    """

    allowed_hosts: tuple[str, ...] = ()
    allow_private: bool = False

    def check_url(self, url: str) -> SplitResult:
        """Split an URL; refuse a scheme, host or port that is not allowed."""
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError as error:
            raise SourceError(f"The URL is malformed: {error}.") from error
        if parts.scheme not in ("http", "https"):
            raise SourceError(f"A URL source reads http and https, not {parts.scheme or 'a path'!r}.")
        host = (parts.hostname or "").rstrip(".")
        if not host or port == 0:
            raise SourceError("The URL has no host.")
        if any(ord(character) <= 32 or ord(character) == 127 for character in url):
            raise SourceError("The URL holds blanks or control characters; quote them.")
        if self.allowed_hosts and not any(_matches(host, pattern) for pattern in self.allowed_hosts):
            raise SourceError(f"The host {host!r} is not in [ingest] allowed_url_hosts.")
        return parts

    def resolve(self, host: str, port: int) -> list[tuple[socket.AddressFamily, str]]:
        """The addresses of a host, all of them checked: one that is private refuses the host."""
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise SourceError(f"The host {host!r} cannot be found.", retryable=True) from error
        pairs: list[tuple[socket.AddressFamily, str]] = [(family, str(at[0])) for family, _, _, _, at in found]
        addresses = list(dict.fromkeys(pairs))
        for _, text in addresses:
            address = ipaddress.ip_address(text.split("%")[0])
            if not self.allow_private and not is_public(address):
                raise SourceError(
                    f"The host {host!r} leads to a private or local address; "
                    "[ingest] allow_private_networks does not allow that."
                )
            if hands_out_credentials(address):
                raise SourceError(f"The host {host!r} leads to an address at which a cloud hands out credentials.")
        return addresses


def _matches(host: str, pattern: str) -> bool:
    """Whether a host is the one named, or below a ``*.`` pattern."""
    host = host.lower()
    return host.endswith(pattern[1:]) if pattern.startswith("*.") else host == pattern


def connect(
    parts: SplitResult, rules: NetworkRules, timeout: float, context: ssl.SSLContext | None = None
) -> http.client.HTTPConnection:
    """An HTTP connection to an address that was checked; the name is only used for the certificate and the header."""
    host = (parts.hostname or "").rstrip(".")
    is_secure = parts.scheme == "https"
    port = parts.port or (443 if is_secure else 80)
    addresses = rules.resolve(host, port)
    connection: http.client.HTTPConnection
    if is_secure:
        connection = http.client.HTTPSConnection(
            host, port, timeout=timeout, context=context or ssl.create_default_context()
        )
    else:
        connection = http.client.HTTPConnection(host, port, timeout=timeout)
    # The only place where http.client opens a socket: give it the checked addresses instead of the name.
    connection._create_connection = _pinned(addresses, port)  # type: ignore[attr-defined]
    return connection


def _pinned(addresses: list[tuple[socket.AddressFamily, str]], port: int) -> Callable[..., socket.socket]:
    def create(_: object, timeout: float, source_address: object = None) -> socket.socket:
        problem: OSError | None = None
        for family, address in addresses:
            opened = socket.socket(family, socket.SOCK_STREAM)
            opened.settimeout(timeout)
            try:
                opened.connect((address, port))
            except OSError as error:
                opened.close()
                problem = error
            else:
                return opened
        raise problem or OSError("no address")

    return create


def credentials_in(parts: SplitResult) -> tuple[str, str] | None:
    """User and password that stand in a URL."""
    if parts.username is None:
        return None
    return unquote(parts.username), unquote(parts.password or "")


def origin_of(parts: SplitResult) -> Origin:
    """Whom an URL speaks to."""
    return parts.scheme, parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)


def may_know(first: Origin, other: Origin) -> bool:
    """Whether an origin may be told the secrets of another: it is the same one, or its https at the usual ports.

    >>> may_know(("http", "a.org", 80), ("https", "a.org", 443))
    True
    """
    scheme, host, port = first
    return other == first or ((scheme, port) == ("http", 80) and other == ("https", host, 443))
