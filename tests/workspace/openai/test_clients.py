from __future__ import annotations

import pytest
from httpx2 import LocalProtocolError
from openai._models import FinalRequestOptions

from apps.workspace.egress.transport import Template, write_head
from apps.workspace.openai.clients import COMPLETIONS, Service, ServiceClient, find_client


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
    "service",
    [
        Service("https://api.example.com/v1", "key"),
        Service("https://api.example.com/v1/?api-version=1&b=2", "key"),
        Service("http://127.0.0.1:1/v1", "key", (("X-Team", "a"),)),
    ],
)
def test_the_short_way_writes_what_the_sdk_would_have_sent(service):
    client = ServiceClient(service)
    template = Template.of(client.question())

    for content in (b"{}", b'{"stream":true}'):
        options = FinalRequestOptions.construct(
            method="post", url=COMPLETIONS, content=content, headers=client.left_out
        )
        full = client._build_request(options)
        assert lines(template.written({}, content)) == lines(write_head(full) + content)


def test_headers_of_the_trace_are_added_to_a_template():
    template = Template.of(ServiceClient(Service("http://127.0.0.1:1/v1", "key")).question())

    first, plain, _ = lines(template.written({}, b"{}"))
    traced = lines(template.written({"traceparent": "00-1-2-01"}, b"{}"))

    assert traced == (first, plain | {b"traceparent: 00-1-2-01"}, b"{}")
    with pytest.raises(LocalProtocolError):
        template.written({"tracestate": "a=1\r\nApi-Key: b"}, b"{}")


async def test_a_service_and_a_key_have_one_client():
    one = find_client(Service("https://api.example.com/v1", "a"))

    assert find_client(Service("https://api.example.com/v1", "a")) is one
    assert find_client(Service("https://api.example.com/v1", "b")) is not one


def test_a_service_does_not_show_its_key():
    service = Service("https://api.example.com/v1", "secret", (("Api-Key", "secret"),))

    assert "secret" not in repr(service)
