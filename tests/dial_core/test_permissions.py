"""Resources that a per-request key can access: its own, attached ones, and granted ones."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.responses import Response

from tests.dial_core import Core
from tests.dial_core.callers import Call, heard, serve_application, told
from tests.dial_core.core import KEY

GRANT = "/v1/ops/resource/per-request-permissions/grant"
LIST = "/v1/ops/resource/per-request-permissions/list"
REVOKE = "/v1/ops/resource/per-request-permissions/revoke"


def asking(*attachments: dict[str, Any], **rest: Any) -> dict[str, Any]:
    content = {"attachments": list(attachments)}
    return {"messages": [{"role": "user", "content": "Hi", "custom_content": content}], **rest}


@pytest.fixture
def home(core: Core) -> str:
    return core.keys.projects[KEY].bucket


async def test_attached_files_may_be_read_and_nothing_else_of_the_user(core: Core, home: str):
    for name in ("a%20b.txt", "other.txt", "folder/c.txt", "picture.png"):
        core.put(f"files/{home}/{name}", b"x")

    async def answer(call: Call) -> Response:
        paths = ("a%20b.txt", "other.txt", "folder/c.txt", "picture.png")
        statuses = [(await call.core.get(f"/v1/files/{home}/{path}")).status_code for path in paths]
        write = await call.core.delete(f"/v1/files/{home}/a%20b.txt")
        return told([*statuses, write.status_code])

    metadata = {
        "type": "application/vnd.dial.metadata+json",
        "url": f"metadata/files/{home}/folder/",
    }
    body = asking({"url": f"files/{home}/a%20b.txt"}, metadata)
    image = {"type": "image_url", "image_url": {"url": f"files/{home}/picture.png"}}
    body["messages"].append({"role": "user", "content": [image]})
    with serve_application(core.url, answer) as url:
        core.add_application("app", url)
        reply = await core.call_application("app", body, stream=False)

    assert heard(reply.content) == [200, 403, 200, 200, 403]


async def test_a_call_with_an_attachment_that_its_caller_may_not_read_is_refused(core: Core):
    core.add_model("m")
    core.put("files/stranger/a.txt", b"x")

    reply = await core.call_application("m", asking({"url": "files/stranger/a.txt"}))
    outside = await core.call_application("m", asking({"url": "https://example.org/a.txt"}))

    assert (reply.status, reply.text) == (403, "You don't have an access to: files/stranger/a.txt")
    assert outside.status == 200


async def test_a_grant_holds_for_the_receivers_calls_within_the_request(core: Core):
    async def inner(call: Call) -> Response:
        url = call.body["messages"][0]["content"]
        return told((await call.core.get(f"/v1/{url}")).status_code)

    async def outer(call: Call) -> Response:
        appdata = (await call.core.get("/v1/bucket")).json()["appdata"]
        url = f"files/{appdata}/plan.txt"
        await call.core.put(f"/v1/{url}", files={"file": ("x", b"x", "text/plain")})
        grant = {
            "resourcePermissions": [{"url": url, "permissions": ["READ"]}],
            "receiver": "inner",
        }

        async def ask() -> Any:
            body = {"messages": [{"role": "user", "content": url}]}
            path = "/openai/deployments/inner/chat/completions"
            return heard((await call.core.post(path, json=body)).content)

        found = [await ask()]
        await call.core.post(GRANT, json=grant)
        listed = (await call.core.post(LIST, json={"with": "OTHERS"})).json()
        found += [await ask(), await ask()]
        await call.core.post(REVOKE, json=grant)
        return told([*found, await ask(), listed == {"receivers": [grant]}])

    with (
        serve_application(core.url, inner) as inner_url,
        serve_application(core.url, outer) as outer_url,
    ):
        core.add_application("inner", inner_url)
        core.add_application("outer", outer_url)
        reply = await core.call_application("outer", asking(), stream=False)

    assert heard(reply.content) == [403, 200, 200, 403, True]


async def test_what_the_properties_name_may_be_read(core: Core, home: str):
    core.put(f"files/{home}/handbook.txt", b"x")
    core.add_schema(
        "https://x/t",
        None,
        {},
        properties={
            "contexts": {
                "type": "array",
                "items": {"$ref": "#/$defs/context"},
                "dial:meta": {"dial:propertyKind": "server", "dial:propertyOrder": 1},
            }
        },
        **{
            "$defs": {"context": {"properties": {"url": {"type": "string", "dial:resource": True}}}}
        },
    )

    async def answer(call: Call) -> Response:
        return told((await call.core.get(f"/v1/files/{home}/handbook.txt")).status_code)

    with serve_application(core.url, answer) as url:
        core.configuration.schemas["https://x/t"]["dial:applicationTypeCompletionEndpoint"] = url
        properties = {"contexts": [{"url": f"files/{home}/handbook.txt"}]}
        core.add_application("app", None, properties, schema_id="https://x/t")
        reply = await core.call_application("app", asking(), stream=False)

    assert heard(reply.content) == 200
