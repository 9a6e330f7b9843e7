from urllib.parse import parse_qsl

import openai
import pytest
from httpx2 import LocalProtocolError

from apps.workspace.egress.guard import Trust
from apps.workspace.egress.sdk_clients import make_sdk_client
from apps.workspace.egress.transport import StreamTransport
from apps.workspace.openai.model import make_service
from apps.workspace.services import client
from apps.workspace.services.client import Service, find_client
from tests.workspace.openai.service import answer, service


def lines(written: bytes) -> tuple[bytes, set[bytes], bytes]:
    """The request line, the headers with names in lower case, and the body."""
    head, _, body = written.partition(b"\r\n\r\n")
    first, *headers = head.split(b"\r\n")
    named = {
        b"%b:%b" % (key.lower(), value) for key, _, value in (h.partition(b":") for h in headers)
    }
    assert len(named) == len(headers)
    return first, named, body


@pytest.mark.parametrize(
    ("query", "key", "headers"),
    [
        ("", "key", ()),
        ("/?api-version=1&b=2", "key", ()),
        ("", "", (("Api-Key", "key"), ("X-Team", "a"))),
    ],
)
async def test_the_short_way_sends_what_the_sdk_would_have_sent(query, key, headers, settings):
    settings.PRIVATE_NETWORK_ALLOWLIST = ["127.0.0.1"]
    whole = answer("200 OK", b"{}")

    async with service(whole, whole) as running:
        own = make_service(running.url + query, key, headers=dict(headers))
        short = await own.ask(b'{"stream":true}', 5.0)
        await short.body.end()
        await ask_by_sdk(running.url, dict(parse_qsl(query.partition("?")[2])), key, dict(headers))

    (ours, content), (theirs, same) = running.requests
    marks = {name: value for name, value in theirs.items() if name.startswith("x-stainless-")}
    assert ours | marks | AGENT == theirs | AGENT
    assert content == same


AGENT = {"user-agent": "QuickApps"}


async def ask_by_sdk(url: str, query: dict[str, str], key: str, headers: dict[str, str]) -> None:
    """Without a key the SDK is told to leave its header out."""
    left_out = {} if key else {"Authorization": openai.Omit()}
    transport = StreamTransport(Trust.OPERATOR)
    async with make_sdk_client(transport, {"Accept-Encoding": "identity"}) as http_client:
        client = openai.AsyncOpenAI(
            base_url=url,
            api_key=key or "none",
            default_query=query,
            http_client=http_client,
            max_retries=0,
        )
        await client.post(
            "/chat/completions",
            cast_to=object,
            content=b'{"stream":true}',
            options={"headers": {"Accept": "text/event-stream", **headers, **left_out}},
        )


async def test_headers_of_the_trace_are_added_to_those_of_the_service():
    endpoint = Service("http://127.0.0.1:1/v1", "chat").endpoint()

    first, plain, _ = lines(endpoint.request("POST", "", {}, b"{}"))
    traced = lines(endpoint.request("POST", "", {"traceparent": "00-1-2-01"}, b"{}"))

    assert traced == (first, plain | {b"traceparent: 00-1-2-01"}, b"{}")
    with pytest.raises(LocalProtocolError):
        endpoint.request("POST", "", {"tracestate": "a=1\r\nApi-Key: b"}, b"{}")


async def test_a_service_and_a_key_have_one_client():
    one = find_client(make_service("https://api.example.com/v1", "a"))

    assert find_client(make_service("https://api.example.com/v1", "a")) is one
    assert find_client(make_service("https://api.example.com/v1", "b")) is not one


def test_a_service_does_not_show_its_key():
    service = make_service("https://api.example.com/v1", "secret", headers={"Api-Key": "secret"})

    assert "secret" not in repr(service)


async def test_of_clients_of_many_keys_those_used_last_are_kept(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(client, "MOST_CLIENTS", 2)
    services = [make_service("https://api.example.com/v1", key) for key in "abc"]
    first, second = find_client(services[0]), find_client(services[1])
    assert find_client(services[0]) is first
    find_client(services[2])

    assert find_client(services[0]) is first
    assert find_client(services[1]) is not second
