"""Hostile URLs, for everything that fetches URLs from models or users.

Each is tried within `hostile_internet()`. A fetch may only reach the public hosts there.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache

from apps.workspace.egress.fetch import FetchReason
from tests.servers.internet import (
    PUBLIC,
    Internet,
    Page,
    breaks_off,
    drip,
    flood,
    internet,
    moved,
    ok,
    packed,
    silence,
)

LIMIT = 2_000
"""The size limit for files, in bytes, when these URLs are tried."""
SECONDS = 0.1
"""The timeout for slow servers. All other requests have enough time."""
BLOCKED = ("resolves to a blocked address", "is not a valid HTTP URL")
PAYLOAD = "cGF5bG9hZA-do-not-repeat"
"""A secret in the query of every URL that has one. No message may repeat it."""


@dataclass(frozen=True)
class Hostile:
    """A hostile URL. `{secret}` in it is the port of a server that must not be reached. `reason` is
    the error of the fetch, or None for URLs that are never fetched."""

    name: str
    url: str
    reason: FetchReason | None


def blocked(name: str, host: str, path: str = "/") -> Hostile:
    return Hostile(name, f"http://{host}{path}", "ssrf_block")


ADDRESSES = [
    blocked("loopback", "127.0.0.1:{secret}"),
    blocked("loopback-elsewhere", "127.8.9.10:{secret}"),
    blocked("loopback-by-name", "localhost:{secret}"),
    blocked("loopback-in-short", "127.1:{secret}"),
    blocked("loopback-decimal", "2130706433:{secret}"),
    blocked("loopback-hex", "0x7f000001:{secret}"),
    blocked("loopback-octal", "0177.0.0.1:{secret}"),
    blocked("loopback-mixed", "0x7f.0.1:{secret}"),
    blocked("loopback-ideographic-dots", "127\u30020\u30020\u30021:{secret}"),
    blocked("loopback-fullwidth", "\uff11\uff12\uff17.0.0.1:{secret}"),
    blocked("loopback-6", "[::1]:{secret}"),
    blocked("loopback-6-long", "[0:0:0:0:0:0:0:1]:{secret}"),
    blocked("loopback-mapped", "[::ffff:127.0.0.1]:{secret}"),
    blocked("loopback-mapped-hex", "[::ffff:7f00:1]:{secret}"),
    blocked("loopback-compatible", "[::127.0.0.1]:{secret}"),
    blocked("unspecified", "0.0.0.0:{secret}"),
    blocked("unspecified-zero", "0:{secret}"),
    blocked("unspecified-6", "[::]:{secret}"),
    blocked("private-10", "10.0.0.1"),
    blocked("private-172", "172.16.0.1"),
    blocked("private-192", "192.168.1.1"),
    blocked("carrier", "100.64.0.1"),
    blocked("link-local", "169.254.1.1"),
    blocked("metadata", "169.254.169.254", "/latest/meta-data/"),
    blocked("metadata-decimal", "2852039166"),
    blocked("metadata-hex", "0xa9fea9fe"),
    blocked("metadata-octal", "0251.0376.0251.0376"),
    blocked("metadata-mapped", "[::ffff:169.254.169.254]"),
    blocked("metadata-aws-6", "[fd00:ec2::254]"),
    blocked("metadata-oracle", "192.0.0.192"),
    blocked("metadata-alibaba", "100.100.100.200"),
    blocked("metadata-azure", "168.63.129.16"),
    blocked("metadata-google", "metadata.google.internal", "/computeMetadata/v1/"),
    blocked("metadata-google-dot", "METADATA.google.internal."),
    blocked("documentation-1", "192.0.2.1"),
    blocked("documentation-2", "198.51.100.1"),
    blocked("documentation-3", "203.0.113.1"),
    blocked("benchmarks", "198.18.0.1"),
    blocked("multicast", "224.0.0.1"),
    blocked("reserved", "240.0.0.1"),
    blocked("broadcast", "255.255.255.255"),
    blocked("unique-local", "[fc00::1]"),
    blocked("link-local-6", "[fe80::1]"),
    blocked("link-local-6-scoped", "[fe80::1%25lo]"),
    blocked("site-local", "[fec0::1]"),
    blocked("multicast-6", "[ff02::1]"),
    blocked("nat64-loopback", "[64:ff9b::7f00:1]:{secret}"),
    blocked("nat64-metadata", "[64:ff9b::169.254.169.254]"),
    blocked("nat64-local", "[64:ff9b:1::8.8.8.8]"),
    blocked("6to4-loopback", "[2002:7f00:1::]:{secret}"),
    blocked("teredo", "[2001:0:4136:e378:8000:63bf:3fff:fdd2]"),
    blocked("documentation-6", "[2001:db8::1]"),
]
NAMES = [
    blocked("name-of-private", "inside.example"),
    blocked("name-of-loopback", "loopback.example:{secret}"),
    blocked("name-of-public-and-private", "mixed.example"),
    blocked("name-of-nobody", "nowhere.example"),
    blocked("name-that-rebinds", "rebinding.example:{secret}"),
    blocked("name-with-an-overlong-label", f"{'a' * 64}.example"),
    blocked("name-with-an-empty-label", "a..example"),
    blocked("name-of-dots", "..."),
    blocked("name-that-is-no-punycode", "xn--a.example"),
    blocked("name-of-empty-punycode", "xn--"),
    blocked("name-that-no-punycode-spells", "xn--zckzah-.example"),
    Hostile("name-with-a-joiner", "http://\u200d.example/", None),
    Hostile("name-with-a-line", "http://a\u2028b.example/", None),
]
TRICKS = [
    blocked("user-looks-like-host", "files.example@127.0.0.1:{secret}"),
    blocked("user-and-password", "files.example:80@127.0.0.1:{secret}"),
    blocked("user-with-backslash", "files.example\\@127.0.0.1:{secret}"),
    blocked("user-with-slash-encoded", "files.example%2f@127.0.0.1:{secret}"),
    blocked("two-ats", "files.example@files.example@127.0.0.1:{secret}"),
    blocked("port-too-large", "files.example:99999"),
    blocked("port-zero", "files.example:0"),
]
REDIRECTS = [
    blocked("redirect-to-loopback", "files.example", "/to-loopback"),
    blocked("redirect-to-loopback-later", "files.example", "/to-to-loopback"),
    blocked("redirect-to-metadata", "files.example", "/to-metadata"),
    blocked("redirect-to-file", "files.example", "/to-file"),
    blocked("redirect-to-nonsense", "files.example", "/to-nonsense"),
    Hostile("redirect-to-itself", "http://files.example/endless", "redirect_cap"),
]
BODIES = [
    Hostile("too-large", f"http://files.example/large?{PAYLOAD}", "size_limit"),
    Hostile("too-large-untold", f"http://files.example/untold?{PAYLOAD}", "size_limit"),
    Hostile("endless", f"http://files.example/flood?{PAYLOAD}", "size_limit"),
    Hostile("gzip-bomb", f"http://files.example/bomb?{PAYLOAD}", "size_limit"),
    Hostile("slow-drip", f"http://files.example/drip?{PAYLOAD}", "timeout"),
    Hostile("silence", f"http://files.example/silence?{PAYLOAD}", "timeout"),
    Hostile("breaks-off", f"http://files.example/broken?{PAYLOAD}", "transport"),
    Hostile("damaged-gzip", f"http://files.example/damaged?{PAYLOAD}", "transport"),
    Hostile("not-there", f"http://u:{PAYLOAD}@files.example/missing?{PAYLOAD}", "transport"),
]
SCHEMES = [
    Hostile("ftp", f"ftp://files.example/a?{PAYLOAD}", None),
    Hostile("gopher", "gopher://127.0.0.1:{secret}/_x", None),
    Hostile("dict", "dict://127.0.0.1:{secret}/stats", None),
    Hostile("ldap", "ldap://127.0.0.1:{secret}/", None),
    Hostile("javascript", "javascript:alert(1)", None),
    Hostile("scheme-relative", "//127.0.0.1:{secret}/", None),
    Hostile("no-host", "http:///etc/passwd", None),
    Hostile("line-break", "http://files.example/\r\nHost: 127.0.0.1", None),
]
SLOW = [url for url in BODIES if url.reason == "timeout"]
URLS = [*ADDRESSES, *NAMES, *TRICKS, *REDIRECTS, *BODIES, *SCHEMES]
PROMPT = [url for url in URLS if url not in SLOW]

Tell = Callable[[str], Awaitable[str]]


@cache
def bomb() -> Page:
    return packed(b"\0" * 50_000_000)


@asynccontextmanager
async def hostile_internet() -> AsyncIterator[Internet]:
    async with internet() as net:
        net.name("inside.example", ["10.0.0.1"])
        net.name("loopback.example", ["127.0.0.1"])
        net.name("mixed.example", [PUBLIC, "10.0.0.1"])
        net.name("metadata.google.internal", [PUBLIC])
        net.name("rebinding.example", ["127.0.0.1"], [PUBLIC])
        net.pages |= {
            "/to-loopback": moved(f"http://127.0.0.1:{net.secret}/"),
            "/to-to-loopback": moved("/to-loopback", 307),
            "/to-metadata": moved("//169.254.169.254/latest/"),
            "/to-file": moved("file:///etc/passwd"),
            "/to-nonsense": moved("http://[nonsense"),
            "/endless": moved("/endless", 308),
            "/large": ok(b"x" * (LIMIT + 1)),
            "/untold": ok(b"x" * (LIMIT + 1), content_length=""),
            "/flood": flood,
            "/bomb": bomb(),
            "/drip": drip,
            "/silence": silence,
            "/broken": breaks_off,
            "/damaged": ok(b"nonsense", content_encoding="gzip"),
        }
        yield net


def problem(net: Internet, url: Hostile, told: str) -> str:
    """Return the problem, or "" if only public hosts were reached and the message contains no
    secret."""
    reached = {host for host, port in net.dialled if port in {80, 443, net.secret}}
    if net.betrayed or not reached <= {PUBLIC}:
        return f"reached {reached}"
    if PAYLOAD in told or "authorization" in "".join(net.asked).lower():
        return f"told {told}"
    if url.reason == "ssrf_block" and not any(one in told for one in BLOCKED):
        return f"not refused for its address: {told}"
    return ""


async def problems(net: Internet, urls: Sequence[Hostile], tell: Tell) -> dict[str, str]:
    """Return the problem of each URL that is not refused correctly. `tell` fetches a URL and
    returns the reason for a refusal."""
    found = {}
    for url in urls:
        told = await tell(url.url.replace("{secret}", str(net.secret)))
        if wrong := problem(net, url, told):
            found[url.name] = wrong
    return found
