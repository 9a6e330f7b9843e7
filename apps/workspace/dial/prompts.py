"""Prompts that are stored in Core."""

from __future__ import annotations

from apps.errors import ServiceFailed
from apps.workspace.dial.calls import Calls, mapping
from apps.workspace.dial.failures import CoreRefused
from apps.workspace.dial.resources import refusal_of, resource_path


async def read_prompt(calls: Calls, path: str) -> str:
    """Raises `FileMissing`, `ServiceFailed`."""
    place = resource_path(calls.core, path, "prompts")
    try:
        written = mapping(await calls.get_json(f"/v1/{place}"))
    except CoreRefused as refusal:
        raise refusal_of(refusal, path) from refusal
    content = written.get("content")
    if not isinstance(content, str):
        raise ServiceFailed(f"The prompt {place} has no text.", reason="answer")
    return content
