"""Malformed requests against the real site."""

from __future__ import annotations

import http.client
import json
import socket
from urllib.parse import urlsplit

import pytest

from tests.sites.gateway import SLUG

BODY = json.dumps({"messages": [{"role": "user", "content": "one two"}]}).encode()


@pytest.fixture
def connection(gateway):
    address = urlsplit(gateway.url)
    opened = http.client.HTTPConnection(address.hostname, address.port, timeout=60)
    yield opened
    opened.close()


@pytest.fixture
def raw(gateway):
    address = urlsplit(gateway.url)
    with socket.create_connection((address.hostname, address.port), 60) as opened:
        yield opened


def head(gateway, *lines):
    return "\r\n".join(
        (
            f"POST /openai/deployments/{SLUG}/chat/completions HTTP/1.1",
            "Host: localhost",
            f"Api-Key: {gateway.key}",
            *lines,
            "\r\n",
        )
    ).encode()


def post(connection, gateway, body, path=f"/openai/deployments/{SLUG}/chat/completions", **headers):
    connection.request("POST", path, body, {"Api-Key": gateway.key, **headers})
    response = connection.getresponse()
    return response.status, json.loads(response.read())


def test_a_body_may_come_in_chunks_of_its_own(connection, gateway):
    status, answer = post(connection, gateway, (BODY[i : i + 7] for i in range(0, len(BODY), 7)))

    assert status == 200
    assert answer["choices"][0]["message"]["content"] == "one two"


def test_a_query_is_of_no_account(connection, gateway):
    path = f"/openai/deployments/{SLUG}/chat/completions?api-version=2024-02-01"

    assert post(connection, gateway, BODY, path)[0] == 200


def test_a_body_that_is_too_large_is_refused(connection, gateway):
    status, answer = post(connection, gateway, b" " * (32 * 1024 * 1024 + 1))

    assert status == 413
    assert answer["error"]["type"] == "invalid_request_error"


def test_a_connection_goes_on_after_a_refusal(connection, gateway):
    assert post(connection, gateway, b"{")[0] == 400
    assert post(connection, gateway, BODY)[0] == 200


def test_a_body_that_ends_early_asks_nobody(connection, gateway, raw):
    asked = len(gateway.upstream.asked)
    raw.sendall(head(gateway, f"Content-Length: {len(BODY) + 1}") + BODY)
    raw.shutdown(socket.SHUT_WR)
    while raw.recv(1000):
        pass

    assert post(connection, gateway, BODY)[0] == 200
    assert len(gateway.upstream.asked) == asked + 1


def test_two_questions_on_one_connection_are_answered_in_order(gateway, raw):
    for text in ("first", "second"):
        body = BODY.replace(b"one two", text.encode())
        raw.sendall(head(gateway, f"Content-Length: {len(body)}") + body)

    received = b""
    while received.count(b'"finish_reason":"stop"') < 2:
        received += raw.recv(10_000)
    assert received.index(b'"first"') < received.index(b'"second"')


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_the_site_says_that_it_is_well(connection, path):
    connection.request("GET", path)
    response = connection.getresponse()

    assert (response.status, json.loads(response.read())) == (200, {"status": "ok"})


def test_pages_still_reach_django(connection):
    connection.request("GET", "/accounts/login/")

    assert connection.getresponse().status == 200
