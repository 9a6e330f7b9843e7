"""Answers that are small in bytes but contain very many values."""

import json
from typing import Any

import pytest
from mcp.shared.message import SessionMessage
from mcp_types import ErrorData, JSONRPCError, JSONRPCResponse
from mcp_types.methods import parse_server_result

from apps.capabilities.mcp.messages import lenient_results
from apps.capabilities.mcp.messages.lenient_results import LenientResults
from apps.capabilities.mcp.messages.redaction import SentCredentials
from apps.capabilities.mcp.messages.result_bounds import LEFT_OUT, MOST_VALUES, bound_message, count
from tests.capabilities.manifests import use
from tests.capabilities.mcp.desk import answering, desk_before, messages
from tests.capabilities.service import Reply, Seen, json_reply

SCHEMA = {"type": "object"}
BLOCK = {"type": "text", "text": "b"}


def read(result: dict[str, Any]) -> dict[str, Any]:
    message = JSONRPCResponse(jsonrpc="2.0", id=1, result=result)
    item = LenientResults().read(bound_message(SessionMessage(message)))
    assert isinstance(item, SessionMessage)
    assert isinstance(item.message, JSONRPCResponse)
    return item.message.result


@pytest.fixture
def validated(monkeypatch):
    """Return the number of values that the SDK has to validate."""
    numbers: list[int] = []

    def counting(method: str, version: str, result: dict[str, Any]) -> Any:
        numbers.append(count(result, 100_000_000))
        return parse_server_result(method, version, result)

    monkeypatch.setattr(lenient_results, "parse_server_result", counting)
    return numbers


@pytest.mark.parametrize("part", [BLOCK, {"type": "text", "text": 5}, 5, "b"])
def test_of_very_many_parts_the_first_are_read_and_the_rest_is_named(part, validated):
    found = read({"content": [part] * 200_000})["content"]

    assert len(found) == 1_001
    assert found[-1] == {
        "type": "text",
        "text": "(199,000 more parts of the result are left out: it can have up to 1,000 parts, "
        "with up to 200,000 values.)",
    }
    assert sum(validated) < 20_000


def test_of_parts_with_very_many_values_those_that_fit_are_read():
    wide = {"type": "text", "text": "b", "_meta": {"a": [0] * 150_000}}

    found = read({"content": [BLOCK, wide, wide, BLOCK]})["content"]

    assert found[:-1] == [BLOCK, wide, BLOCK]
    assert found[-1]["text"].startswith("(1 more parts of the result are left out")


@pytest.mark.parametrize("key", ["structuredContent", "toolResult"])
def test_a_field_with_very_many_values_is_left_out_and_named(key, validated):
    found = read({"content": [BLOCK], key: {"a": [[]] * 1_000_000}, "_meta": {"a": [0] * 500_000}})

    note = f"(“{key}” is left out: it has more than 200,000 values.)"
    assert found == {"content": [BLOCK, {"type": "text", "text": note}]}
    assert sum(validated) < 100


@pytest.mark.parametrize("key", ["tools", "resources"])
def test_of_a_very_long_list_the_first_entries_are_read(key, validated):
    entry = {"name": "a", "uri": "x:a", "inputSchema": SCHEMA}

    found = read({key: [entry] * 200_000})

    assert len(found[key]) == 5_000
    assert found["_meta"][LEFT_OUT] == [
        f"195,000 of the 200,000 {key} are left out: the limit per list is 5,000 entries with "
        "200,000 values."
    ]
    assert sum(validated) < 100_000


def test_of_a_very_large_resource_the_first_contents_are_read():
    found = read({"contents": [{"uri": "x:a", "text": "b"}] * 200_000})["contents"]

    assert len(found) == 1_001
    assert found[-1]["uri"] == ""
    assert found[-1]["text"].startswith("(199,000 more parts of the result are left out")


def test_an_error_with_very_much_data_comes_without_it():
    error = ErrorData(code=-32000, message="No.", data=[0] * 1_000_000)
    item = bound_message(SessionMessage(JSONRPCError(jsonrpc="2.0", id=1, error=error)))

    assert isinstance(item, SessionMessage)
    assert isinstance(item.message, JSONRPCError)
    assert item.message.error == ErrorData(code=-32000, message="No.")


def test_counting_stops_at_the_bound():
    assert count({"a": [1, 2], "b": {}}, MOST_VALUES) == 4
    assert count([[[]] * 10] * 1_000_000, 5) == 1_000_000


async def test_credentials_in_a_note_beside_the_rest_are_hidden():
    sent = SentCredentials()
    sent.add("s3cret-of-many-letters")
    parts = [{"type": "text", "text": "s3cret-of-many-letters"}] * 1_500
    message = JSONRPCResponse(jsonrpc="2.0", id=1, result={"content": parts})

    item = sent.redacted(bound_message(SessionMessage(message)))

    assert "s3cret" not in repr(item)


async def test_the_model_reads_what_is_left_out():
    body = json.dumps({"jsonrpc": "2.0", "id": 2, "result": {"content": [BLOCK] * 1_002}})

    async def answer(seen: Seen) -> Reply:
        asked = json.loads(seen.body) if seen.body else {}
        changed = body.replace('"id": 2', f'"id": {json.dumps(asked.get("id"))}')
        return await answering(json_reply(changed))(seen)

    async with desk_before(answer=answer) as contribution:
        told = (await use(contribution.tools[0])).content

    assert told.startswith("b\n\nb\n\n")
    assert "(2 more parts of the result are left out" in told
    assert messages(contribution) == []
