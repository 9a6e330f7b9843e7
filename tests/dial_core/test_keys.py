"""The caller of each request, and the lifetime of a per-request key."""

from __future__ import annotations

import httpx
from starlette.responses import JSONResponse, Response

from tests.dial_core import Core
from tests.dial_core.callers import Call, client_of, heard, serve_application, told
from tests.dial_core.core import KEY

HELLO = {"messages": [{"role": "user", "content": "Hi"}]}
TYPE = "https://apps.example.org/type"


def info(core: Core, **headers: str) -> tuple[int, str]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    response = httpx.get(f"{core.url}/v1/user/info", headers=named, timeout=60)
    return response.status_code, response.text


def test_credentials_are_combined_by_the_rules(core: Core):
    project = (200, '{"roles":["default"],"project":"Demo"}')
    with core.request_key("app") as key:
        assert info(core) == (401, "At least API-KEY or Authorization must be set")
        assert info(core, Api_Key=KEY) == project
        assert info(core, Api_Key="nobody") == (401, "Unknown api key")
        assert info(core, Api_Key=KEY, Authorization="Bearer") == project
        assert info(core, Authorization=f"Bearer {KEY}") == project
        assert info(core, Api_Key=KEY, Authorization=f"Bearer {KEY}") == project
        assert info(core, Api_Key=key.value, Authorization="Bearer ann") == project
        assert info(core, Api_Key=KEY, Authorization="Bearer ann") == (
            400,
            "Provided API key is not per request key",
        )
    status, user = info(core, Authorization="Bearer ann")
    assert (status, '"userId":"ann"' in user) == (200, True)


async def test_a_nested_call_gets_a_key_that_knows_who_began(core: Core):
    async def outer(call: Call) -> Response:
        path = "/openai/deployments/inner/chat/completions"
        answer = await call.core.post(path, json=HELLO)
        return Response(answer.content, media_type="application/json")

    async def inner(call: Call) -> Response:
        return told((await call.core.get("/v1/bucket")).json()["appdata"])

    with (
        serve_application(core.url, outer) as outer_url,
        serve_application(core.url, inner) as inner_url,
    ):
        core.add_application("outer", outer_url)
        core.add_application("inner", inner_url)
        reply = await core.call_application("outer", HELLO, stream=False)

    first, second = core.keys.past
    assert second.path == ("outer", "inner")
    assert second.initiator == first.initiator
    assert second.trace_id == first.trace_id
    assert heard(reply.content) == f"{first.initiator.bucket}/appdata/inner"
    assert core.keys.live == {}


async def test_a_type_may_describe_its_properties_itself(core: Core):
    """The service's description is fetched once it answers, and determines which properties are
    visible."""
    kind = {"dial:meta": {"dial:propertyKind": "client", "dial:propertyOrder": 1}}
    served: list[object] = []

    async def answer(call: Call) -> Response:
        if call.request.url.path != "/schema":
            return told("called")
        served.append(call.body)
        found = {"type": "object", "properties": {"shown": kind}, "$id": "other"}
        return JSONResponse(found) if len(served) > 1 else Response(status_code=500)

    with serve_application(core.url, answer) as url:
        core.add_schema(TYPE, url, {}, **{"dial:applicationTypeSchemaEndpoint": f"{url}/schema"})
        del core.configuration.schemas[TYPE]["properties"]
        core.add_application("app", None, {"shown": 1, "hidden": 2}, schema_id=TYPE)
        early = await core.call_application("app", HELLO, stream=False)
        late = await core.call_application("app", HELLO, stream=False)
        with client_of(core, KEY) as client:
            found = client.get("/openai/applications/app").json()

    assert (early.status, late.status, len(served)) == (503, 200, 2)
    assert found["application_properties"] == {"shown": 1}
    assert found["application_type_schema_id"] == TYPE
