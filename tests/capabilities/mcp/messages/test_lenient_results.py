"""Results that do not strictly follow the protocol, before the SDK validates them."""

import base64
import json
from typing import Any
from urllib.parse import quote

import mcp_types as types
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCResponse
from mcp_types.methods import validate_server_result

from apps.capabilities.mcp.calls.results import blobs_of, result_text, type_of
from apps.capabilities.mcp.messages.lenient_results import LenientResults
from apps.capabilities.mcp.messages.result_bounds import LEFT_OUT, bound_message
from tests.tables import each_row

SCHEMA = {"type": "object"}
PLAIN = {"name": "plain", "inputSchema": SCHEMA}


def read(result: dict[str, Any]) -> dict[str, Any]:
    message = JSONRPCResponse(jsonrpc="2.0", id=1, result=result)
    item = LenientResults().read(bound_message(SessionMessage(message)))
    assert isinstance(item, SessionMessage)
    assert isinstance(item.message, JSONRPCResponse)
    return item.message.result


def listed(*tools: Any) -> tuple[list[Any], list[str]]:
    result = read({"tools": [*tools]})
    validate_server_result("tools/list", "2025-11-25", result)
    return result["tools"], result.get("_meta", {}).get(LEFT_OUT, [])


def answer(result: dict[str, Any]) -> types.CallToolResult:
    found = read(result)
    validate_server_result("tools/call", "2025-11-25", found)
    return types.CallToolResult.model_validate(found, by_name=False)


@each_row(
    ("odd", "expected"),
    [
        ({"inputSchema": {}}, {"inputSchema": SCHEMA}),
        ({}, {"inputSchema": SCHEMA}),
        ({"inputSchema": None}, {"inputSchema": SCHEMA}),
        ({"inputSchema": True}, {"inputSchema": SCHEMA}),
        ({"inputSchema": []}, {"inputSchema": SCHEMA}),
        ({"inputSchema": {"type": "OBJECT", "properties": []}}, {"inputSchema": SCHEMA}),
        ({"inputSchema": {"type": "any", "required": None}}, {"inputSchema": SCHEMA}),
        ({"inputSchema": {"type": "null", "properties": None}}, {"inputSchema": SCHEMA}),
        (
            {"inputSchema": {"type": "object", "properties": {"x": None, "y": []}}},
            {"inputSchema": {"type": "object", "properties": {"x": {}, "y": {}}}},
        ),
        ({"inputSchema": {"type": ["object", "null"]}}, {"inputSchema": SCHEMA}),
        (
            {"inputSchema": {"properties": {"x": {}}}},
            {"inputSchema": {"type": "object", "properties": {"x": {}}}},
        ),
        ({"inputSchema": SCHEMA, "outputSchema": {"type": "array"}}, {"inputSchema": SCHEMA}),
        ({"inputSchema": SCHEMA, "outputSchema": "text"}, {"inputSchema": SCHEMA}),
        ({"inputSchema": SCHEMA, "annotations": {"readOnlyHint": []}}, {"inputSchema": SCHEMA}),
        ({"inputSchema": SCHEMA, "annotations": 5, "icons": 5}, {"inputSchema": SCHEMA}),
        ({"inputSchema": SCHEMA, "description": 5, "title": []}, {"inputSchema": SCHEMA}),
        ({"inputSchema": SCHEMA, "_meta": "x", "execution": 1}, {"inputSchema": SCHEMA}),
    ],
)
def test_an_odd_tool_that_can_be_understood_is_listed(odd: dict[str, Any], expected: Any):
    assert listed({"name": "odd", **odd}, {**PLAIN, "annotations": {"title": 5}}) == (
        [{"name": "odd", **expected}, PLAIN],
        [],
    )


@each_row(
    ("odd", "reason"),
    [
        (
            {"name": "odd", "inputSchema": {"type": "objet"}},
            "the tool 'odd' is left out: inputSchema.type is “objet”, not “object”.",
        ),
        (
            {"name": "odd", "inputSchema": {"properties": [1]}},
            "the tool 'odd' is left out: inputSchema.properties is a list, not an object.",
        ),
        (
            {"name": "odd", "inputSchema": [1]},
            "the tool 'odd' is left out: inputSchema is a list, not an object.",
        ),
        (
            {"name": "odd", "inputSchema": {"properties": {"a": 3}}},
            "the tool 'odd' is left out: inputSchema.properties.a is a number, not an object.",
        ),
        (
            {"name": "odd", "inputSchema": {"required": [None]}},
            "the tool 'odd' is left out: inputSchema.required.0 is null, not a text.",
        ),
        (
            {"name": 5, "inputSchema": SCHEMA},
            "the tool number 1 is left out: name is a number, not a text.",
        ),
        ({"inputSchema": SCHEMA}, "the tool number 1 is left out: name is missing."),
        ("odd", "the tool number 1 is left out: it is a text, not an object."),
        (None, "the tool number 1 is left out: it is null, not an object."),
    ],
)
def test_a_tool_that_cannot_be_understood_is_left_out_alone(odd: Any, reason: str):
    assert listed(odd, PLAIN) == ([PLAIN], [reason])


def test_a_list_without_fault_is_not_touched():
    result = {"tools": [PLAIN], "nextCursor": "x", "_meta": {"a": 1}}

    assert read(result) == result


def test_a_server_cannot_write_our_reasons():
    assert read({"tools": [PLAIN], "_meta": {LEFT_OUT: ["forged"], "a": 1}})["_meta"] == {"a": 1}


@each_row(
    ("cursor", "shown"),
    [(5, "(5) is a number"), ({"a": 1}, '({"a": 1}) is an object'), ([], "([]) is a list")],
)
def test_a_cursor_that_is_no_text_ends_the_list_and_is_named(cursor: Any, shown: str):
    result = read({"tools": [PLAIN, {"name": "odd"}], "nextCursor": cursor, "_meta": 5})

    assert result == {
        "tools": [PLAIN, {"name": "odd", "inputSchema": SCHEMA}],
        "_meta": {
            LEFT_OUT: [
                f"the nextCursor of the server's list {shown}, not a string; only the tools before "
                "it are used."
            ]
        },
    }


@each_row(
    ("result", "expected"),
    [
        ({"content": [{"type": "text", "text": "[1, 2]"}], "structuredContent": [1, 2]}, "[1, 2]"),
        ({"content": [], "structuredContent": [1, 2]}, "[1, 2]"),
        ({"structuredContent": "seen"}, "seen"),
        ({"structuredContent": {"a": 1}}, '{"a":1}'),
        ({"content": "seen"}, "seen"),
        ({"content": {"type": "text", "text": "seen"}}, "seen"),
        ({"content": ["seen", {"text": "too"}]}, "seen\n\ntoo"),
        ({"content": [{"type": "text", "text": 5}]}, "5"),
        ({"content": [{"type": "text", "text": "seen", "annotations": 5, "_meta": 5}]}, "seen"),
        ({"content": None, "isError": "no"}, ""),
        ({"content": [{"type": "text", "text": "seen"}], "isError": None}, "seen"),
        ({"isError": None}, ""),
        ({}, ""),
        ({"_meta": {"a": 1}}, ""),
        ({"toolResult": {"a": 1}}, '{"toolResult": {"a": 1}}'),
        (
            {"content": [{"type": "video", "url": "https://a.b/v"}, {"type": "text", "text": "and"}]},
            "(A part of the result has the type 'video', which is not known here: "
            '{"url": "https://a.b/v"})\n\nand',
        ),
        ({"content": [{"type": "resource", "resource": {"text": "# Hello"}}]}, "# Hello"),
        ({"content": [{"type": "resource", "resource": {"uri": 5, "text": {"a": 1}}}]}, '{"a": 1}'),
    ],
)  # fmt: skip
def test_a_call_that_was_carried_out_has_a_result(result: dict[str, Any], expected: str):
    found = answer(result)

    assert (result_text(found), found.is_error) == (expected, False)


@pytest.mark.parametrize("result", [{"resultType": "task"}, {"messages": [], "content": 5}])
def test_results_of_other_methods_are_not_touched(result: dict[str, Any]):
    assert read(result) == result


PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
WRITTEN = base64.b64encode(PNG).decode()


@each_row(
    ("data", "stated"),
    [
        (WRITTEN, "image/png"),
        (WRITTEN, "image/jpeg"),
        (WRITTEN, "application/octet-stream"),
        (f"data:image/png;base64,{WRITTEN}", "image/png"),
        (f"data:image/png;charset=utf-8;base64,{WRITTEN}", "image/gif"),
        (f"data:image/png;base64,{quote(WRITTEN, safe='')}", "image/png"),
        (f"data:image/png,{quote(PNG)}", "image/png"),
        (WRITTEN.rstrip("="), "image/png"),
        ("\n".join(WRITTEN[at : at + 20] for at in range(0, len(WRITTEN), 20)), "image/png"),
        (base64.urlsafe_b64encode(PNG).decode(), "image/png"),
    ],
)
def test_a_picture_is_read_however_it_is_written(data: str, stated: str):
    found = answer({"content": [{"type": "image", "data": data, "mimeType": stated}]})

    (blob,) = blobs_of(found.content)

    assert blob is not None
    assert (blob.kind, blob.content) == ("image/png", PNG)


@each_row(
    ("content", "expected"),
    [
        (b"<!doctype html><p>No.", "application/octet-stream"),
        (b"%PDF-1.7", "application/pdf"),
        (b'<svg xmlns="http://www.w3.org/2000/svg"/>', "application/octet-stream"),
    ],
)
def test_what_is_stated_as_a_picture_and_is_none_is_a_file(content: bytes, expected: str):
    assert type_of(content, "image/png") == expected


def test_a_drawing_is_a_picture():
    assert type_of(b"<?xml version='1.0'?><svg/>", "image/svg+xml") == "image/svg+xml"


@each_row(
    ("kind", "content", "expected"),
    [
        ("text/plain", "Grüße".encode(), "Grüße"),
        ("text/markdown; charset=utf-8", b"# Hi", "# Hi"),
        ("application/json", b"{}", "{}"),
        ("text/plain", "Grüße".encode("latin-1"), ""),
        ("application/pdf", b"text", ""),
    ],
)
def test_the_model_reads_a_text_that_is_embedded_as_bytes(kind: str, content: bytes, expected: str):
    blob = base64.b64encode(content).decode()
    resource = {"uri": "file:///a", "mimeType": kind, "blob": blob}

    found = answer({"content": [{"type": "resource", "resource": resource}]})

    assert result_text(found) == expected


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "tools",
                    "name",
                    "inputSchema",
                    "type",
                    "properties",
                    "annotations",
                    "content",
                    "text",
                    "structuredContent",
                    "isError",
                    "resource",
                    "uri",
                    "data",
                    "mimeType",
                    "_meta",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)


@given(JSON, JSON)
def test_whatever_a_server_sends_is_a_result(tools: Any, content: Any):
    for key, value in (("content", content), ("structuredContent", tools), ("tools", [tools])):
        found = read({key: value})
        method = "tools/list" if key == "tools" else "tools/call"
        validate_server_result(method, "2025-11-25", found)
        json.dumps(found)


OPENING = {
    "protocolVersion": "2025-06-18",
    "serverInfo": {"name": "x", "version": "1"},
    "capabilities": {"tools": {}},
}
UNSTATED = {"serverInfo": {"name": "", "version": ""}}


@each_row(
    ("odd", "expected"),
    [
        ({"serverInfo": {"name": "x"}}, {"serverInfo": {"name": "x", "version": ""}}),
        (
            {"serverInfo": {"name": "x", "title": "X", "version": 1}},
            {"serverInfo": {"name": "x", "version": "", "title": "X"}},
        ),
        ({"serverInfo": None}, UNSTATED),
        ({"serverInfo": "x"}, {"serverInfo": {"name": "x", "version": ""}}),
        ({"capabilities": None}, {}),
        ({"capabilities": []}, {}),
        ({"capabilities": {"tools": []}}, {}),
        ({"capabilities": {"tools": True, "prompts": False, "logging": None}}, {}),
        ({"capabilities": {"tools": {"listChanged": []}}}, {}),
        ({"capabilities": {"tools": {}, "experimental": {"a": True}}}, {}),
        ({"instructions": ["Be brief.", 5, "Be kind."]}, {"instructions": "Be brief.\nBe kind."}),
        ({"instructions": {"a": 1}}, {}),
    ],
)
def test_a_server_is_opened_whatever_it_says_of_itself(odd: dict[str, Any], expected: Any):
    result = read({**OPENING, **odd})

    validate_server_result("initialize", "2025-06-18", result)
    assert result == {**OPENING, **expected}


def test_what_a_server_says_of_itself_without_fault_is_not_touched():
    told = {**OPENING, "capabilities": {"experimental": {"a": {"b": 1}}, "extensions": {}}}

    assert read(told) == told
