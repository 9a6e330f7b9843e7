"""Responses in the wire format of the Responses API: output items, and the events of their stream."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from tests.workspace.openai.service import chunked

Item = dict[str, Any]
USAGE = {
    "input_tokens": 30,
    "input_tokens_details": {"cached_tokens": 20, "cache_write_tokens": 5},
    "output_tokens": 12,
    "output_tokens_details": {"reasoning_tokens": 8},
    "total_tokens": 42,
}
CITED = {
    "type": "url_citation",
    "url": "https://weather.example.org/riga",
    "title": "Riga today",
    "start_index": 0,
    "end_index": 4,
}
SEARCH = {
    "type": "web_search_call",
    "id": "ws_1",
    "status": "completed",
    "action": {"type": "search", "query": "weather Riga", "queries": ["weather Riga"]},
}


def message(text: str, id: str = "msg_1", *annotations: Item, **more: Any) -> Item:
    part = {"type": "output_text", "text": text, "annotations": list(annotations), "logprobs": []}
    return {
        "type": "message",
        "id": id,
        "status": "completed",
        "role": "assistant",
        "content": [part],
        **more,
    }


def reasoning(*summary: str, id: str = "rs_1", encrypted: str = "gAAAA-sealed") -> Item:
    return {
        "type": "reasoning",
        "id": id,
        "summary": [{"type": "summary_text", "text": text} for text in summary],
        "encrypted_content": encrypted,
    }


def call(call_id: str, name: str = "weather", arguments: str = '{"city": "Riga"}') -> Item:
    return {
        "type": "function_call",
        "id": f"fc_{call_id}",
        "call_id": call_id,
        "name": name,
        "arguments": arguments,
        "status": "completed",
    }


def response(*items: Item, **more: Any) -> dict[str, Any]:
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1795000000,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": "m",
        "output": list(items),
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": USAGE,
        **more,
    }


def events(*items: Item, **last: Any) -> list[dict[str, Any]]:
    """Return all events of an answer, numbered and ordered as by the API."""
    begun = response(status="in_progress", usage=None)
    whole = response(*items, **last)
    told = [
        {"type": "response.created", "response": begun},
        {"type": "response.in_progress", "response": begun},
        *(event for index, item in enumerate(items) for event in item_events(index, item)),
        {"type": f"response.{whole['status']}", "response": whole},
    ]
    return [{**event, "sequence_number": number} for number, event in enumerate(told)]


def item_events(index: int, item: Item) -> Iterator[dict[str, Any]]:
    place = {"output_index": index, "item_id": item["id"]}
    begun = {**item, "status": "in_progress"}
    match item["type"]:
        case "message":
            yield {**added(index), "item": {**begun, "content": []}}
            yield from part_events(place, item["content"][0])
        case "reasoning":
            yield {**added(index), "item": {**item, "summary": []}}
            for number, part in enumerate(item["summary"]):
                yield from summary_events({**place, "summary_index": number}, part)
        case "function_call":
            yield {**added(index), "item": {**begun, "arguments": ""}}
            kind = "response.function_call_arguments"
            for piece in pieces(item["arguments"]):
                yield {"type": f"{kind}.delta", **place, "delta": piece}
            yield {"type": f"{kind}.done", **place, "arguments": item["arguments"]}
        case kind:
            yield {**added(index), "item": begun}
            yield {"type": f"response.{kind}.in_progress", **place}
            yield {"type": f"response.{kind}.completed", **place}
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


def part_events(place: dict[str, Any], part: Item) -> Iterator[dict[str, Any]]:
    place = {**place, "content_index": 0}
    yield {"type": "response.content_part.added", **place, "part": {**part, "text": ""}}
    for piece in pieces(part["text"]):
        yield {
            "type": "response.output_text.delta",
            **place,
            "delta": piece,
            "logprobs": [],
            "obfuscation": "x9",
        }
    for number, annotation in enumerate(part["annotations"]):
        yield {
            "type": "response.output_text.annotation.added",
            **place,
            "annotation_index": number,
            "annotation": annotation,
        }
    yield {"type": "response.output_text.done", **place, "text": part["text"], "logprobs": []}
    yield {"type": "response.content_part.done", **place, "part": part}


def summary_events(place: dict[str, Any], part: Item) -> Iterator[dict[str, Any]]:
    kind = "response.reasoning_summary"
    yield {"type": f"{kind}_part.added", **place, "part": {**part, "text": ""}}
    for piece in pieces(part["text"]):
        yield {"type": f"{kind}_text.delta", **place, "delta": piece}
    yield {"type": f"{kind}_text.done", **place, "text": part["text"]}
    yield {"type": f"{kind}_part.done", **place, "part": part}


def added(index: int) -> dict[str, Any]:
    return {"type": "response.output_item.added", "output_index": index}


def pieces(text: str) -> list[str]:
    return re.findall(r"\S+\s*|\s+", text)


def encoded(event: dict[str, Any]) -> bytes:
    data = json.dumps(event, ensure_ascii=False)
    return f"event: {event['type']}\ndata: {data}\n\n".encode()


def stream(*items: Item, **last: Any) -> bytes:
    return b"".join(map(encoded, events(*items, **last)))


def streamed(*items: Item, **last: Any) -> list[Any]:
    """Return a well-formed answer, with each event in its own piece."""
    return chunked(*map(encoded, events(*items, **last)))
