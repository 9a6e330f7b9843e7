from __future__ import annotations

import openai
import pytest
from openai._models import FinalRequestOptions

from apps.workspace.egress.sdk_clients import Request
from apps.workspace.openai.clients import (
    COMPLETIONS,
    Service,
    ServiceClient,
    find_client,
    time_outs,
)


def parts(request: Request) -> tuple[str, str, dict[str, str], bytes, dict[str, float | None]]:
    headers = {name: value for name, value in request.headers.items() if name != "host"}
    return request.method, str(request.url), headers, request.read(), request.extensions["timeout"]


@pytest.mark.parametrize(
    "service",
    [
        Service("https://api.example.com/v1", "key"),
        Service("https://api.example.com/v1/?api-version=1&b=2", "key"),
        Service("http://127.0.0.1:1/v1", "key", (("X-Team", "a"),)),
    ],
)
def test_the_short_way_builds_the_request_that_the_sdk_would_build(service):
    client = ServiceClient(service)

    for number in (1, 2):
        options = FinalRequestOptions.construct(
            method="post",
            url=COMPLETIONS,
            content=b"{}" * number,
            timeout=time_outs(float(number)),
            headers=client.left_out,
        )
        changed = {"content": options.content, "timeout": options.timeout}
        short = client._build_request(client.question.model_copy(update=changed))
        full = openai.AsyncOpenAI._build_request(client, options)
        assert parts(short) == parts(full)


async def test_a_service_and_a_key_have_one_client():
    one = find_client(Service("https://api.example.com/v1", "a"))

    assert find_client(Service("https://api.example.com/v1", "a")) is one
    assert find_client(Service("https://api.example.com/v1", "b")) is not one


def test_a_service_does_not_show_its_key():
    service = Service("https://api.example.com/v1", "secret", (("Api-Key", "secret"),))

    assert "secret" not in repr(service)
