from typing import Any

import pytest

from apps.manifest.credentials import CredentialLocation, find_credentials
from apps.manifest.json_places import replace_values
from apps.manifest.servers import servers_of
from tests.contract import proves
from tests.tables import each_row


def bearer(token: Any, url: str = "https://api.example.org/items") -> dict[str, Any]:
    return {
        "type": "rest-api",
        "name": "shop",
        "authorization": {"type": "bearer", "token": token},
        "tools": [{"type": "restapi-tool", "rest_api_method_info": {"method_url": url}}],
    }


def manifest(*toolsets: Any) -> dict[str, Any]:
    return {
        "orchestrator": {"deployment": {"deployment_id": "m"}},
        "contexts": [],
        "tool_sets": list(toolsets),
    }


def found(document: Any) -> list[tuple[str, str]]:
    return [(place.path, place.kind) for place in find_credentials(document)]


MCP: dict[str, Any] = {
    "type": "mcp",
    "name": "desk",
    "mcp_server_info": {
        "url": "https://mcp.example.org/",
        "protocol": "sse",
        "authorization": {
            "type": "client_id_secret",
            "client_id": "svc",
            "client_secret": "hush",
            "token_url": "https://id.example.org/token",
        },
    },
}


def constant(key: str, const: Any, place: str = "header") -> dict[str, Any]:
    parameters = {
        "k": {"type": None, "const": const, "parameter_info": {"type": place, "key": key}}
    }
    return {
        "type": "restapi-tool",
        "rest_api_method_info": {"method_url": "https://api.example.org/x", "method_type": "get"},
        "open_ai_tool": {
            "function": {
                "name": "f",
                "description": "d",
                "parameters": {"type": "object", "properties": parameters},
            }
        },
    }


CONST = "open_ai_tool.function.parameters.properties.k.const"


@proves("m1.12")
def test_every_kind_of_authorization_has_its_place():
    key = {"type": "api_key", "name": "X-Key", "key": "k", "location": "header"}
    basic = {"type": "basic", "username": "u", "password": {"$secret": "shop"}}
    document = manifest(
        bearer("t"),
        {**bearer("t"), "authorization": key},
        {**bearer(""), "authorization": basic},
        MCP,
    )

    places = find_credentials(document)

    assert places == (
        CredentialLocation(("tool_sets", 0, "authorization", "token"), "plain"),
        CredentialLocation(("tool_sets", 1, "authorization", "key"), "plain"),
        CredentialLocation(("tool_sets", 2, "authorization", "password"), "reference", "shop"),
        CredentialLocation(
            ("tool_sets", 3, "mcp_server_info", "authorization", "client_secret"), "plain"
        ),
    )


@pytest.mark.parametrize(
    ("document", "places"),
    [
        (MCP, [("mcp_server_info.authorization.client_secret", "plain")]),
        (constant("Authorization", "Bearer x"), [(CONST, "plain")]),
        (constant("X-Track-Key", "x"), [(CONST, "plain")]),
        (constant("api_key", "x", "query"), [(CONST, "plain")]),
        (constant("X-Api-Version", "2"), []),
        (constant("X-Api-Version", {"$secret": "s"}), [(CONST, "reference")]),
        (constant("lines", {"$secret": "s", "more": 1}), [(CONST, "plain")]),
    ],
)
def test_an_item_of_predefined_content_is_read_as_a_manifest_is(document, places):
    assert found(document) == places


@proves("8")
@each_row(
    ("headers", "places"),
    [
        ({"X-Tenant": "acme"}, []),
        ({"X-Tenant": {"$secret": "s"}}, [("headers.X-Tenant", "reference")]),
        ({"X-Tenant": {"$hidden": "1"}}, [("headers.X-Tenant", "hidden")]),
        ({"Authorization": "Bearer t"}, [("headers.Authorization", "plain")]),
        ({"X-Track-Key": "k", "Cookie": ""}, [("headers.X-Track-Key", "plain")]),
        (
            {"X-Track-Key": ["k"], "X": 5},
            [("headers.X-Track-Key", "plain"), ("headers.X", "plain")],
        ),
        ("Authorization: Bearer t", [("headers", "plain")]),
        (
            ["Authorization: t", {"Cookie": "c"}],
            [("headers[0]", "plain"), ("headers[1].Cookie", "plain")],
        ),
        (None, []),
    ],
)
def test_shared_headers_are_credentials_where_their_name_or_their_value_says_so(headers, places):
    toolset = {"type": "rest-api", "name": "shop", "headers": headers, "tools": []}
    patch = {"type": "predefined", "template_name": "shop", "override": {"headers": headers}}

    assert found(toolset) == places
    assert found(manifest(toolset)) == [(f"tool_sets[0].{path}", kind) for path, kind in places]
    assert found(manifest(patch)) == [
        (f"tool_sets[0].override.{path}", kind) for path, kind in places
    ]


@proves("8")
def test_the_servers_of_a_toolset_with_a_base_are_that_and_the_others_that_are_named():
    def tools(*urls: str) -> list[Any]:
        return [{"rest_api_method_info": {"method_url": url}} for url in urls]

    own = ("tool_sets", 0)
    based = {"type": "rest-api", "base_url": "https://api.example.org/v1"}
    relative = {**based, "tools": tools("/a", "b", "//mine.example.net/c")}
    mixed = {**based, "tools": tools("/a", "https://other.example.org/x")}

    assert servers_of(manifest(relative), own) == {"https://api.example.org"}
    assert servers_of(manifest(mixed), own) == {
        "https://api.example.org",
        "https://other.example.org",
    }
    assert servers_of(manifest({"type": "rest-api", "tools": tools("/a")}), own) == {"/"}
    assert servers_of(manifest({**based, "base_url": "/shop", "tools": tools("a")}), own) == {"/"}


def test_a_patch_of_a_template_may_hold_credentials():
    toolset = {"authorization": {"token": "t"}}
    tool = constant("X", {"$secret": "s"})
    document = manifest(
        {"type": "predefined", "template_name": "shop", "override": toolset},
        {
            "type": "rest-api",
            "name": "n",
            "tools": [{"template_name": "pay", "override": {"open_ai_tool": tool["open_ai_tool"]}}],
        },
    )

    assert found(document) == [
        ("tool_sets[0].override.authorization.token", "plain"),
        (f"tool_sets[1].tools[0].override.{CONST}", "reference"),
    ]


@each_row(
    ("toolset", "places"),
    [
        # Misspelt, misplaced, of an unknown kind or of the wrong type, it is still a credential.
        (
            {"type": "rest-api", "authorization": {"type": "bearer", "tokn": "t"}},
            [("tool_sets[0].authorization.tokn", "plain")],
        ),
        (
            {"type": "rest-api", "authorization": "Bearer t"},
            [("tool_sets[0].authorization", "plain")],
        ),
        (
            {"type": "rest", "authorization": {"type": "x", "password": 5}},
            [("tool_sets[0].authorization.password", "plain")],
        ),
        (
            {"type": "mcp", "authorization": {"type": "bearer", "token": "t"}},
            [("tool_sets[0].authorization.token", "plain")],
        ),
        (
            {"type": "mcp", "mcp_server": {"url": "u", "authorization": {"token": ["t"]}}},
            [("tool_sets[0].mcp_server.authorization.token", "plain")],
        ),
        ({"type": "mcp", "api_key": "t"}, [("tool_sets[0].api_key", "plain")]),
        ({"type": "rest-api", "authorization": {"type": "bearer", "token": ""}}, []),
        ({"type": "rest-api", "authorization": None}, []),
        (
            ["nonsense", {"authorization": {"token": "t"}}],
            [("tool_sets[0][1].authorization.token", "plain")],
        ),
    ],
)
def test_broken_documents_hide_their_credentials_too(toolset, places):
    assert found(manifest(toolset)) == places


def test_what_belongs_to_others_is_left_alone():
    fields = {"custom_fields": {"configuration": {"password": "field", "authorization": "x"}}}
    document = {"orchestrator": {"deployment": {"deployment_id": "m", "parameters": fields}}}

    assert found(document) == []


@pytest.mark.parametrize("document", [None, 5, "text", [], [[]], {}, {"tool_sets": 5}])
def test_what_is_no_document_has_no_credentials(document):
    assert find_credentials(document) == ()


def test_a_deep_document_is_walked_to_its_end():
    document: Any = {"authorization": {"token": "t"}}
    for _ in range(5_000):
        document = [document]

    assert len(find_credentials(document)) == 1


def test_a_toolset_is_sent_to_all_of_its_servers():
    document = manifest(bearer("t", "HTTPS://Api.Example.org:443/a/{b}"), MCP)

    assert servers_of(document, ("tool_sets", 0, "authorization", "token")) == {
        "https://api.example.org"
    }
    assert servers_of(document, ("tool_sets", 1)) == {
        "https://mcp.example.org",
        "https://id.example.org",
    }


def test_values_are_replaced_in_a_copy():
    document = {"a": [{"b": 1}, 2], "c": 3}

    assert replace_values(document, {("a", 0, "b"): 9, ("c",): 8}) == {"a": [{"b": 9}, 2], "c": 8}
    assert document == {"a": [{"b": 1}, 2], "c": 3}
