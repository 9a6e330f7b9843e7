"""Credentials in the queries of addresses become secrets."""

from __future__ import annotations

from typing import Any

import pytest

from apps.catalog.credentials.url_credentials import without_url_credentials
from apps.catalog.extraction import extract, forbidden_credentials
from apps.catalog.models import empty_manifest
from apps.manifest.manifest import Manifest
from tests.catalog.rows import secrets
from tests.tables import each_row

CITY = {"type": "string", "parameter_info": {"type": "query", "key": "city"}}


def tool(url: str, **properties: Any) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {"city": CITY, **properties}}
    function = {"name": "weather", "description": "Tells it.", "parameters": parameters}
    return {
        "rest_api_method_info": {"method_url": url, "method_type": "get"},
        "open_ai_tool": {"type": "function", "function": function},
    }


def constant(key: str, value: Any) -> dict[str, Any]:
    return {"type": None, "const": value, "parameter_info": {"type": "query", "key": key}}


def manifest(*tools: Any) -> dict[str, Any]:
    toolset = {"type": "rest-api", "name": "Weather", "description": "", "tools": list(tools)}
    return {**empty_manifest(), "tool_sets": [toolset]}


@each_row(
    ("url", "changed", "constants"),
    [
        ("https://a.example/x?api_key=s3cret", "https://a.example/x", {"api_key": "s3cret"}),
        ("https://a.example/x?units=c&token=a%2Bb+c&v=2#t", "https://a.example/x?units=c&v=2#t",
         {"token": "a+b c"}),
        ("https://a.example/x?API-Key=k&access_token=t", "https://a.example/x",
         {"API-Key": "k", "access_token": "t"}),
        ("/relative?subscription-key=k", "/relative", {"subscription-key": "k"}),
        ("https://a.example/x?units=c&monkey=1", "https://a.example/x?units=c&monkey=1", {}),
        ("https://a.example/x?api_key=", "https://a.example/x?api_key=", {}),
        ("https://a.example/x?api_key", "https://a.example/x?api_key", {}),
        ("https://a.example/x#?api_key=s", "https://a.example/x#?api_key=s", {}),
    ],
)  # fmt: skip
def test_a_credential_in_the_address_of_a_rest_tool_becomes_a_constant(url, changed, constants):
    wanted = tool(changed, **{key: constant(key, value) for key, value in constants.items()})

    assert without_url_credentials([tool(url)]) == [wanted]
    assert without_url_credentials(wanted) == wanted


def test_a_parameter_that_replaces_the_credential_or_has_its_name_stays():
    replacing = {"mine": {"type": "string", "parameter_info": {"type": "query", "key": "api_key"}}}
    alike = {"api_key": {"type": "string", "parameter_info": {"type": "body", "key": "api_key"}}}
    url = "https://a.example/x?api_key=s"

    assert without_url_credentials(tool(url, **replacing)) == tool(url, **replacing)
    assert without_url_credentials(tool(url, **alike)) == tool(
        "https://a.example/x", **alike, api_key_=constant("api_key", "s")
    )


@each_row(
    "document",
    [
        None,
        {"rest_api_method_info": 5},
        {"rest_api_method_info": {"method_url": "https://a/?api_key=s"}},
        {**tool("https://a/?api_key=s"), "open_ai_tool": {"function": {"parameters": []}}},
        {**tool("https://a/?api_key=s"), "rest_api_method_info": {"method_url": 7}},
        {"protocol": "sse", "url": 7},
        {"type": [], "url": "https://a/?api_key=s"},
        {"protocol": "sse", "url": "https://a/?api_key=s&token=t"},
        {"protocol": "sse", "url": "https://a/?api_key=s", "authorization": {"type": "oauth"}},
    ],
)
def test_a_document_that_is_wrong_stays_as_it_is(document):
    assert without_url_credentials(document) == document


@each_row(
    ("server", "field"),
    [
        ({"protocol": "streamable_http"}, "url"),
        ({"protocol": "sse", "authorization": None}, "url"),
        ({"type": "a2a-agent", "name": "Travel"}, "url"),
        ({"type": "responses-agent", "model": "travel"}, "base_url"),
    ],
)
def test_a_credential_in_the_address_of_a_server_becomes_its_authorization(server, field):
    typed = {**server, field: "https://a.example/mcp?v=2&api%5Fkey=s%2F+t"}
    key = {"type": "api_key", "name": "api_key", "key": "s/ t", "location": "query"}

    changed = without_url_credentials([typed])

    wanted = {**server, field: "https://a.example/mcp?v=2", "authorization": key}
    assert changed == [wanted]
    assert without_url_credentials(changed) == changed


@pytest.mark.django_db
@pytest.mark.postgres
def test_saving_moves_the_credential_of_an_mcp_server_into_a_secret_for_the_server():
    info = {"protocol": "streamable_http", "url": "https://a.example/mcp?api_key=s3cret"}
    typed = {
        **empty_manifest(),
        "tool_sets": [{"type": "mcp", "name": "Desk", "mcp_server_info": info}],
    }

    found = extract(typed)

    (toolset,) = Manifest.model_validate(found.document).tool_sets
    assert toolset.model_dump(mode="json", exclude_unset=True)["mcp_server_info"] == {
        "protocol": "streamable_http",
        "url": "https://a.example/mcp",
        "authorization": {
            "type": "api_key",
            "name": "api_key",
            "key": {"$secret": "desk-key"},
            "location": "query",
        },
    }
    assert secrets() == [("desk-key", "s3cret", ["https://a.example"])]
    assert "s3cret" not in str(found.document)


@pytest.mark.django_db
@pytest.mark.postgres
def test_saving_moves_the_credential_into_a_secret_for_the_server_of_the_tool():
    typed = manifest(tool("https://a.example/x?units=c&api_key=s3cret"))

    found = extract(typed)

    document = manifest(
        tool("https://a.example/x?units=c", api_key=constant("api_key", {"$secret": NAME}))
    )
    assert found.document == document
    assert secrets() == [(NAME, "s3cret", ["https://a.example"])]
    assert Manifest.model_validate(found.document).tool_sets
    assert "s3cret" not in str(found.document)
    assert [
        one.message for one in forbidden_credentials(typed, None) if "s3cret" in one.message
    ] == []


NAME = "weather-api-key"
