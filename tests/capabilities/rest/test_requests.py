"""Requests that a service receives."""

import json
from typing import Any

import pytest

from apps.capabilities.rest.capability import rest
from apps.capabilities.rest.requests import ACCEPT
from apps.errors import InvalidParameter
from apps.manifest.manifest import Manifest
from tests.capabilities.manifests import CALLER, manifest, opened, parameter, tool, tool_set, use
from tests.capabilities.service import Seen, Service, json_reply, serving
from tests.contract import proves

pytestmark = pytest.mark.usefixtures("loopback")


async def seen_of(document: Manifest, service: Service, **arguments: Any) -> Seen:
    async with opened(rest, document) as contribution:
        await use(contribution.tools[0], **arguments)
    return service.seen[-1]


def basics(service: Service, **more: str) -> dict[str, str]:
    """Return the headers of every request."""
    return {
        "accept": ACCEPT,
        "accept-encoding": "gzip, deflate",
        "connection": "keep-alive",
        "host": service.url.removeprefix("http://"),
        "user-agent": "QuickApps",
        **more,
    }


@proves("8")
async def test_arguments_go_where_the_manifest_says():
    async with serving(json_reply("{}")) as service:
        properties = {
            "id": parameter("url", "id"),
            "fields": parameter(
                "query", "fields", "array", items={"type": "string"}, description="Columns"
            ),
            "limit": parameter("query", "limit", "integer"),
            "raw": parameter("query", "raw", "boolean"),
            "trace": parameter("header", "X-Trace"),
            "version": parameter("header", "X-Version", None, const="2"),
        }
        document = manifest(tool_set(tool(f"{service.url}/v2/{{id}}", "get", properties, ("id",))))

        seen = await seen_of(
            document, service, id="P 7", fields=["a", "b,c"], limit=3, raw=True, trace="t-1"
        )

    assert seen == Seen(
        "GET",
        "/v2/P%207?fields=a%2Cb%2Cc&limit=3&raw=true",
        basics(service, **{"x-trace": "t-1", "x-version": "2"}),
    )


@proves("8")
@pytest.mark.parametrize("method", ["post", "put"])
async def test_a_body_is_json_with_lists_and_objects_as_json_text(method):
    inner = {"zip": {"type": "string"}}
    address = {"items": {"type": "string"}, "description": "d"}
    async with serving(json_reply("{}")) as service:
        properties = {
            "name": parameter("body", "name"),
            "tags": parameter("body", "tags", "array", **address),
            "to": parameter("body", "to", "object", properties=inner, description="d"),
            "real": parameter(
                "body", "real", "object", properties=inner, description="d", encoding="json"
            ),
        }
        document = manifest(tool_set(tool(f"{service.url}/labels", method, properties)))

        seen = await seen_of(
            document, service, name="é", tags=["a"], to={"zip": "1"}, real={"zip": "2"}
        )

    body = '{"name":"é","tags":"[\\"a\\"]","to":"{\\"zip\\":\\"1\\"}","real":{"zip":"2"}}'
    length = str(len(body.encode()))
    headers = basics(
        service,
        **{
            "content-type": "application/json",
            "content-length": length,
            "idempotency-key": seen.headers["idempotency-key"],
        },
    )
    assert seen == Seen(method.upper(), "/labels", headers, body.encode())


@proves("8")
async def test_a_post_without_arguments_sends_an_empty_object_and_a_delete_nothing():
    async with serving(json_reply("{}")) as service:
        posted = await seen_of(manifest(tool_set(tool(f"{service.url}/a", "post"))), service)
        deleted = await seen_of(manifest(tool_set(tool(f"{service.url}/a", "delete"))), service)

    key = {"idempotency-key": deleted.headers["idempotency-key"]}
    assert (posted.body, deleted) == (b"{}", Seen("DELETE", "/a", basics(service, **key)))


@proves("8")
async def test_what_the_model_leaves_out_is_not_sent_and_a_default_is():
    async with serving(json_reply("{}")) as service:
        properties = {
            "q": parameter("query", "q"),
            "h": parameter("header", "X-H"),
            "b": parameter("body", "b"),
            "unit": parameter("query", "unit", default="metric"),
        }
        document = manifest(tool_set(tool(f"{service.url}/a", "post", properties)))

        seen = await seen_of(document, service, q=None, unknown="x")

    assert (seen.target, seen.body, "x-h" in seen.headers) == ("/a?unit=metric", b"{}", False)


@proves("8")
async def test_the_query_of_the_address_is_kept_and_an_argument_replaces_its_namesake():
    async with serving(json_reply("{}")) as service:
        url = f"{service.url}/s?key=a%20b&lang=en&lang=de&x={{q}}#part"
        properties = {"lang": parameter("query", "lang"), "q": parameter("query", "q")}
        document = manifest(tool_set(tool(url, "get", properties)))

        seen = await seen_of(document, service, lang="fr", q="&a=b#c")

    assert seen.target == "/s?key=a%20b&x={q}&lang=fr&q=%26a%3Db%23c"


@proves("8")
async def test_lists_and_objects_in_a_query_are_json_where_the_encoding_says_so():
    items = {"items": {"type": "integer"}, "description": "d"}
    async with serving(json_reply("{}")) as service:
        properties = {
            "a": parameter("query", "a", "array", **items),
            "b": parameter("query", "b", "array", encoding="json", **items),
            "c": parameter("query", "c", "object", properties={}, description="d"),
            "d": parameter("header", "X-D", "array", **items),
        }
        document = manifest(tool_set(tool(f"{service.url}/s", "get", properties)))

        seen = await seen_of(document, service, a=[1, 2], b=[1, 2], c={"k": 1}, d=[1, 2])

    assert seen.target == "/s?a=1%2C2&b=%5B1%2C2%5D&c=%7B%22k%22%3A1%7D"
    assert seen.headers["x-d"] == "[1,2]"


@proves("6.3", "8")
async def test_constants_inside_objects_and_lists_are_sent_and_cannot_be_replaced():
    constant = {"type": None, "const": "c"}
    line = {
        "type": "object",
        "description": "d",
        "properties": {"n": {"type": "integer"}, "kind": constant},
    }
    async with serving(json_reply("{}")) as service:
        properties = {
            "lines": parameter(
                "body", "lines", "array", items=line, description="d", encoding="json"
            ),
            "mode": parameter("body", "mode", None, const={"deep": [1]}, encoding="json"),
        }
        document = manifest(tool_set(tool(f"{service.url}/a", "post", properties)))

        seen = await seen_of(
            document, service, lines=[{"n": 1, "kind": "mine"}, {"n": 2}], mode="mine"
        )

    assert json.loads(seen.body) == {
        "lines": [{"n": 1, "kind": "c"}, {"n": 2, "kind": "c"}],
        "mode": {"deep": [1]},
    }


@proves("8")
@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nb", "a\rb", "a\0b"])
async def test_a_header_cannot_be_broken_by_an_argument(value):
    async with serving(json_reply("{}")) as service:
        document = manifest(
            tool_set(tool(f"{service.url}/a", "get", {"h": parameter("header", "X-H")}))
        )

        with pytest.raises(InvalidParameter) as error:
            await seen_of(document, service, h=value)

    assert service.seen == []
    assert str(error.value) == (
        "Parameter h is invalid: a header cannot contain line breaks or other control characters."
    )


@proves("6.3", "8")
async def test_constants_are_sent_wherever_they_belong_whatever_the_model_writes():
    async with serving(json_reply("{}")) as service:
        properties = {
            "id": parameter("url", "id", None, const="a/b?c#d é"),
            "n": parameter("url", "n", None, const=0),
            "flag": parameter("query", "flag", None, const=False),
            "list": parameter("query", "list", None, const=["a", "b"]),
            "none": parameter("query", "none", None, const=None),
            "h": parameter("header", "X-H", None, const={"k": 1}),
            "b": parameter("body", "b", None, const=[1]),
        }
        document = manifest(
            tool_set(tool(f"{service.url}/{{id}}/{{n}}", "post", properties, ("id",)))
        )

        seen = await seen_of(
            document, service, id="mine", n=7, flag=True, list=[], none="x", h="x", b=2
        )

    assert (seen.target, seen.headers["x-h"], seen.body) == (
        "/a%2Fb%3Fc%23d%20%C3%A9/0?flag=false&list=a%2Cb",
        '{"k":1}',
        b'{"b":"[1]"}',
    )


@proves("8")
async def test_a_get_sends_a_body_only_if_an_argument_goes_there():
    async with serving(json_reply("{}")) as service:
        properties = {"b": parameter("body", "b")}
        document = manifest(tool_set(tool(f"{service.url}/a", "get", properties)))

        with_body = await seen_of(document, service, b="x")
        without = await seen_of(document, service)

    assert (with_body.body, with_body.headers["content-type"]) == (b'{"b":"x"}', "application/json")
    assert without == Seen("GET", "/a", basics(service))


@proves("8")
async def test_numbers_are_written_as_json_writes_them():
    numbers = {"a": 10**30, "b": 1e22, "c": -0.5, "d": 5.0}
    async with serving(json_reply("{}")) as service:
        properties = {
            "a": parameter("query", "a", "integer"),
            "b": parameter("query", "b", "number"),
            "c": parameter("query", "c", "number"),
            "d": parameter("url", "d", "integer"),
            "o": parameter("body", "o", "object", properties={}, description="d"),
        }
        document = manifest(tool_set(tool(f"{service.url}/{{d}}", "put", properties, ("d",))))

        seen = await seen_of(document, service, **numbers, o={})

    assert (seen.target, seen.body) == (f"/5?a={10**30}&b=1e22&c=-0.5", b'{"o":"{}"}')


@proves("8")
async def test_empty_text_and_empty_lists_are_sent_and_null_is_not():
    items = {"items": {"type": "string"}, "description": "d"}
    async with serving(json_reply("{}")) as service:
        properties = {
            "q": parameter("query", "q"),
            "l": parameter("query", "l", "array", **items),
            "n": parameter("query", "n"),
            "b": parameter("body", "b", "array", **items),
        }
        document = manifest(tool_set(tool(f"{service.url}/a", "post", properties)))

        seen = await seen_of(document, service, q="", l=[], n=None, b=[])

    assert (seen.target, seen.body) == ("/a?q=&l=", b'{"b":"[]"}')


@proves("8")
async def test_an_argument_may_replace_what_is_accepted_but_not_who_is_asked():
    async with serving(json_reply("{}")) as service:
        properties = {
            "accept": parameter("header", "Accept"),
            "kind": parameter("header", "Content-Type", None, const="application/vnd.x+json"),
        }
        document = manifest(tool_set(tool(f"{service.url}/a", "post", properties)))

        seen = await seen_of(document, service, accept="text/csv")

    assert seen.told("accept", "content-type") == {
        "accept": "text/csv",
        "content-type": "application/vnd.x+json",
    }
    assert ACCEPT == (
        "application/json, application/xml, text/html, text/csv, text/json, text/xml, "
        "application/csv, text/markdown, text/plain; charset=utf-8"
    )


@proves("8")
async def test_a_header_may_contain_any_script():
    async with serving(json_reply("{}")) as service:
        document = manifest(
            tool_set(tool(f"{service.url}/a", "get", {"h": parameter("header", "X-H")}))
        )

        seen = await seen_of(document, service, h=" Zoë 中 ")

    assert seen.headers["x-h"] == "Zoë 中"


async def test_an_address_that_begins_with_a_slash_is_on_this_server(settings):
    settings.PRIVATE_NETWORK_ALLOWLIST = []
    async with serving(json_reply("{}")) as service:
        settings.SITE_URL = service.url
        document = manifest(
            tool_set(tool("/demo/{id}?a=1", "get", {"id": parameter("url", "id")}, ("id",))),
            tool_set(tool("//elsewhere.example/x"), name="other"),
        )

        async with opened(rest, document) as contribution:
            await use(contribution.tools[0], id="7")
            await use(contribution.tools[1])

    assert service.targets == ["GET /demo/7?a=1", "GET //elsewhere.example/x"]


@proves("8")
@pytest.mark.parametrize("wanted", [None, [], ["Host", "X-Other"]])
async def test_headers_of_the_caller_that_the_toolset_does_not_name_stay_here(wanted):
    caller = CALLER.at(headers={"X-Tenant": "t", "Host": "evil"})
    async with serving(json_reply("{}")) as service:
        document = manifest(tool_set(tool(f"{service.url}/a"), forward_headers=wanted))

        async with opened(rest, document, caller) as contribution:
            await use(contribution.tools[0])

    assert service.seen == [Seen("GET", "/a", basics(service))]


@proves("8")
async def test_the_named_headers_of_the_caller_are_passed_on_but_never_replace_the_operators():
    key = {"type": "api_key", "name": "X-Key", "key": "operator", "location": "header"}
    caller = CALLER.at(
        headers={"X-Tenant": "t", "X-KEY": "mine", "X-Bad": "a\r\nb", "Host": "evil"}
    )
    async with serving(json_reply("{}")) as service:
        names = ["x-tenant", "X-Key", "X-Bad"]
        document = manifest(
            tool_set(tool(f"{service.url}/a"), authorization=key, forward_headers=names)
        )

        async with opened(rest, document, caller) as contribution:
            await use(contribution.tools[0])

    assert service.seen == [
        Seen("GET", "/a", basics(service, **{"x-tenant": "t", "x-key": "operator"}))
    ]
