from __future__ import annotations

import asyncio
import socket
from typing import Any

import httpcore
import pytest

from apps.errors import EgressRefused
from apps.workspace.egress.guard import (
    HostAddress,
    HostUnknown,
    Trust,
    find_addresses,
    is_allowed,
    resolve,
    unknown_host,
)
from apps.workspace.egress.guarded_transports import GuardedBackend
from tests.contract import proves
from tests.tables import each_row


class Wire:
    """A network backend that records connections; `broken` addresses refuse them."""

    def __init__(self, *broken: str) -> None:
        self.dialled: list[tuple[str, int]] = []
        self.broken = broken

    async def connect_tcp(self, host: str, port: int, *rest: Any) -> str:
        self.dialled.append((host, port))
        if host in self.broken:
            raise httpcore.ConnectError("refused")
        return f"stream to {host}"


class Names:
    """A resolver that answers from a list, one entry per lookup."""

    def __init__(self, *answers: list[str] | OSError) -> None:
        self.answers = list(answers)

    async def getaddrinfo(self, host: str, port: int, **rest: Any) -> list[Any]:
        answer = self.answers.pop(0)
        if isinstance(answer, OSError):
            raise answer
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (item, port)) for item in answer]


def backend(trust: Trust, wire: Wire) -> GuardedBackend:
    return GuardedBackend(wire, trust, httpcore.ConnectError)


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Any:
    def use(*answers: list[str] | OSError) -> None:
        service = Names(*answers)
        monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", service.getaddrinfo)

    return use


async def test_the_address_that_was_judged_is_the_one_that_is_dialled(names):
    names(["8.8.8.8"], ["127.0.0.1"])  # a second lookup would return another address
    wire = Wire()

    await backend(Trust.GUARDED, wire).connect_tcp("rebinding.example", 443)

    assert wire.dialled == [("8.8.8.8", 443)]


@proves("17")
@pytest.mark.parametrize("found", [["127.0.0.1"], ["8.8.8.8", "10.0.0.1"], ["169.254.169.254"]])
async def test_one_bad_address_refuses_the_host(names, found):
    names(found)
    wire = Wire()

    with pytest.raises(EgressRefused, match=r"evil\.example"):
        await backend(Trust.GUARDED, wire).connect_tcp("evil.example", 80)

    assert wire.dialled == []


@each_row(
    "host",
    ["127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "::1", "::ffff:127.0.0.1", ""],
)
async def test_loopback_is_refused_however_it_is_written(host):
    wire = Wire()

    with pytest.raises((EgressRefused, httpcore.ConnectError)):
        await backend(Trust.GUARDED, wire).connect_tcp(host, 80)

    assert wire.dialled == []


async def test_a_guarded_caller_cannot_use_the_allowlist(names, settings):
    settings.PRIVATE_NETWORK_ALLOWLIST = ["inside.example"]
    names(["10.0.0.1"])

    with pytest.raises(EgressRefused, match="Only public addresses"):
        await find_addresses(Trust.GUARDED, "inside.example", 80)


async def test_an_operator_reaches_a_private_host_on_the_allowlist(names, settings):
    settings.PRIVATE_NETWORK_ALLOWLIST = ["inside.example"]
    names(["10.0.0.1"])

    assert await find_addresses(Trust.OPERATOR, "inside.example", 80) == [
        HostAddress("10.0.0.1", 80)
    ]


async def test_an_operator_is_told_what_to_add_to_the_allowlist(names, settings):
    settings.PRIVATE_NETWORK_ALLOWLIST = ["other.example"]
    names(["10.0.0.1"])

    with pytest.raises(EgressRefused) as refused:
        await find_addresses(Trust.OPERATOR, "inside.example", 80)

    assert str(refused.value) == (
        "The host 'inside.example' is on a private network. If the server may contact it, add "
        "inside.example to the setting PRIVATE_NETWORK_ALLOWLIST."
    )


async def test_the_allowlist_does_not_open_what_is_never_contacted(names, settings):
    settings.PRIVATE_NETWORK_ALLOWLIST = ["metadata.example"]
    names(["169.254.169.254"])

    with pytest.raises(EgressRefused, match="Requests to it are blocked"):
        await find_addresses(Trust.OPERATOR, "metadata.example", 80)


@each_row(
    ("host", "expected"),
    [
        ("a.example", True),
        ("A.Example.", True),
        ("b.corp.example", True),
        ("deep.b.corp.example", True),
        ("corp.example", False),
        ("evilcorp.example", False),
        ("a.example.evil", False),
        ("::1", True),
        ("[::1]", True),
    ],
)
def test_an_entry_is_a_host_or_what_it_ends_in(host, expected):
    assert is_allowed(host, ["a.example", "*.corp.example", "[::1]"]) is expected


@pytest.mark.parametrize(
    ("host", "port", "expected"),
    [("127.0.0.1", 8000, True), ("127.0.0.1", 8001, False), ("localhost", 8000, False)],
)
async def test_the_site_is_one_host_and_port(settings, host, port, expected):
    settings.SITE_URL = "http://127.0.0.1:8000"

    if expected:
        assert await find_addresses(Trust.SITE, host, port) == [HostAddress(host, port)]
    else:
        with pytest.raises(EgressRefused, match="not this server"):
            await find_addresses(Trust.SITE, host, port)


async def test_the_next_address_is_tried_when_one_refuses(names):
    names(["8.8.8.8", "1.1.1.1"])
    wire = Wire("8.8.8.8")

    assert await backend(Trust.GUARDED, wire).connect_tcp("a.example", 80) == "stream to 1.1.1.1"


async def test_a_name_that_nobody_has_is_the_error_of_the_library(names):
    names(socket.gaierror(-2, "unknown"))

    with pytest.raises(httpcore.ConnectError, match=r"nowhere\.example"):
        await backend(Trust.GUARDED, Wire()).connect_tcp("nowhere.example", 80)


async def test_unix_sockets_are_refused():
    with pytest.raises(EgressRefused):
        await backend(Trust.OPERATOR, Wire()).connect_unix_socket("/run/docker.sock")


async def test_dial_core_may_be_on_a_private_network_and_nothing_else_is_reached(names, settings):
    settings.DIAL_URL = "http://core.internal:8080/dial"
    settings.PRIVATE_NETWORK_ALLOWLIST = []
    names(["10.0.0.7"])

    assert await find_addresses(Trust.DIAL, "core.internal", 8080) == [
        HostAddress("10.0.0.7", 8080)
    ]
    for host, port in (("core.internal", 80), ("core.internal.evil.example", 8080)):
        with pytest.raises(EgressRefused, match="is not DIAL Core"):
            await find_addresses(Trust.DIAL, host, port)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (
            socket.gaierror(socket.EAI_NONAME, "x"),
            "The host 'api.exmaple' is unknown; check its name.",
        ),
        (
            socket.gaierror(socket.EAI_AGAIN, "x"),
            "The name 'api.exmaple' could not be looked up; try again later.",
        ),
    ],
)
async def test_an_unknown_host_is_named(names, error, text):
    names(error)

    with pytest.raises(HostUnknown) as caught:
        await resolve("api.exmaple", 443)

    failed = RuntimeError("The service cannot be reached.")
    failed.__cause__ = caught.value
    assert unknown_host(failed) == text
    assert unknown_host(RuntimeError("another")) == ""
