import openai
import pytest
from httpx2 import LocalProtocolError

from apps.workspace.openai.clients import Service, ServiceClient, find_client
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
    left_out = {"x-stainless-read-timeout": openai.Omit()}
    if not key:
        left_out["Authorization"] = openai.Omit()

    async with service(whole, whole) as running:
        client = ServiceClient(Service(running.url + query, key, headers))
        short = await client.ask(b'{"stream":true}', 5.0)
        await short.body.end()
        await client.post(
            "/chat/completions",
            cast_to=object,
            content=b'{"stream":true}',
            options={"headers": left_out},
        )
        await client.aclose()

    assert running.requests[0] == running.requests[1]


async def test_headers_of_the_trace_are_added_to_those_of_the_service():
    endpoint = ServiceClient(Service("http://127.0.0.1:1/v1", "key")).endpoint

    first, plain, _ = lines(endpoint.request("POST", "", {}, b"{}"))
    traced = lines(endpoint.request("POST", "", {"traceparent": "00-1-2-01"}, b"{}"))

    assert traced == (first, plain | {b"traceparent: 00-1-2-01"}, b"{}")
    with pytest.raises(LocalProtocolError):
        endpoint.request("POST", "", {"tracestate": "a=1\r\nApi-Key: b"}, b"{}")


async def test_a_service_and_a_key_have_one_client():
    one = find_client(Service("https://api.example.com/v1", "a"))

    assert find_client(Service("https://api.example.com/v1", "a")) is one
    assert find_client(Service("https://api.example.com/v1", "b")) is not one


def test_a_service_does_not_show_its_key():
    service = Service("https://api.example.com/v1", "secret", (("Api-Key", "secret"),))

    assert "secret" not in repr(service)
