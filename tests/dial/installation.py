"""The shipped site in a separate process, and the Core that calls it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.dial_core import Core, Hop, serve_core
from tests.dial_core.core import KEY, Reply
from tests.dial_core.models import Answer, is_synthetic
from tests.sites.serving import Site, serve_process

TYPE = "https://mydial.epam.com/custom_application_schemas/quickapps2"
DOOR = "/openai/deployments/quick_apps2"
SIGN_IN_SECONDS = 20
"""Longer than the fifteen seconds after which a silent answer gets a heartbeat."""
KEPT = (
    "orchestrator",
    "contexts",
    "tool_sets",
    "tool_defaults",
    "features",
    "conversation_starters",
    "skills",
)


@dataclass(frozen=True, slots=True)
class Installation:
    site: Site
    pid: int
    core: Core

    def add(self, name: str, model: str, *tool_sets: Mapping[str, Any], **rest: Any) -> None:
        """Add an application that Core stores."""
        self.core.add_application(name, None, manifest(model, *tool_sets, **rest), TYPE)

    @property
    def log(self) -> str:
        return self.site.log.read_text(errors="replace")


def manifest(model: str, *tool_sets: Mapping[str, Any], **rest: Any) -> dict[str, Any]:
    """Return a manifest. `rest` are its other keys, and `parameters` are those of its model."""
    deployment = {"deployment_id": model, "parameters": rest.pop("parameters", {})}
    prompt = {"type": "custom", "content": "Be brief.", "variables": {}}
    return {
        "orchestrator": {"deployment": deployment, "system_prompt": prompt},
        "contexts": [],
        "tool_sets": list(tool_sets),
        "features": {"timestamp": None},
        **rest,
    }


def helpers(*deployments: str, **fields: Any) -> dict[str, Any]:
    """Return a toolset of deployments that only Core knows."""
    simple = {"type": "dial-deployment-simple", **fields}
    tools = [{**simple, "deployment_id": name} for name in deployments]
    return {"type": "dial-deployment", "name": "", "tools": tools}


@contextmanager
def serve_installation(folder: Path) -> Iterator[Installation]:
    with (
        serve_core() as core,
        serve_process(
            folder,
            DIAL_URL=core.url,
            DIAL_INTERACTIVE_LOGIN_TIMEOUT_SECONDS=str(SIGN_IN_SECONDS),
            SHOW_USAGE_STATISTICS="true",
        ) as (site, fork),
    ):
        core.channels.heartbeat_seconds = 0.2
        register(core, f"{site.url}{DOOR}")
        yield Installation(site, fork.pid, core)


def register(core: Core, door: str) -> None:
    """Register the type of applications that the site behind that door serves."""
    configuration = {"dial:applicationTypeConfigurationEndpoint": f"{door}/configuration"}
    core.add_schema(TYPE, f"{door}/chat/completions", dict.fromkeys(KEPT), **configuration)


# --- What is asked and what comes back ----------------------------------------------------------


def asking(text: str, **content: Any) -> dict[str, Any]:
    message = {"role": "user", "content": text}
    return {"messages": [{**message, "custom_content": content} if content else message]}


def told_to(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return a model's messages, without the injected calls and results."""
    return [message for message in body["messages"] if not is_synthetic(message)]


def last(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a model's last message."""
    return told_to(body)[-1]


def called(name: str, **arguments: Any) -> list[dict[str, Any]]:
    return [{"tool_calls": [{"name": name, "arguments": arguments}]}]


def ask_helper(body: Mapping[str, Any]) -> Answer:
    """Return a model that repeats the result of its only tool."""
    if last(body)["role"] == "tool":
        return [{"text": last(body)["content"]}]
    return called("*", query="Hello")


def said(reply: Reply) -> str:
    return "".join(delta.get("content") or "" for delta in deltas(reply))


def deltas(reply: Reply) -> list[dict[str, Any]]:
    return [choice["delta"] for event in reply.events() for choice in event.get("choices", ())]


def stages(reply: Reply) -> list[tuple[str, str, str]]:
    """Return name, content and status of every stage, assembled as a client does."""
    found: dict[int, tuple[str, str, str]] = {}
    for delta in deltas(reply):
        for stage in (delta.get("custom_content") or {}).get("stages", ()):
            name, content, status = found.get(stage["index"], ("", "", ""))
            found[stage["index"]] = (
                name + (stage.get("name") or ""),
                content + (stage.get("content") or ""),
                stage.get("status") or status,
            )
    return [found[index] for index in sorted(found)]


def state(reply: Reply) -> dict[str, Any]:
    """Return the state of the answer. A second one would be an error."""
    found = [(delta.get("custom_content") or {}).get("state") for delta in deltas(reply)]
    [one] = [item for item in found if item is not None]
    assert isinstance(one, dict)
    return one


def attachments(reply: Reply) -> list[dict[str, Any]]:
    return [
        attachment
        for delta in deltas(reply)
        for attachment in (delta.get("custom_content") or {}).get("attachments", ())
    ]


def asked_with(core: Core, key: str) -> list[Hop]:
    """Return the requests that Core got with a key, in order."""
    return [hop for hop in core.requests if hop.headers.get("api-key") == key]


def key_of(core: Core, name: str) -> str:
    """Return the newest key that Core created for an application."""
    return [made.value for made in core.keys.past if made.deployment == name][-1]


async def lines_of(core: Core, name: str, body: Mapping[str, Any], **headers: str) -> list[str]:
    """Return the lines of a streamed answer unchanged, including comments."""
    named = {header.replace("_", "-"): value for header, value in headers.items()}
    async with (
        httpx.AsyncClient(base_url=core.url, timeout=180, verify=False) as client,
        client.stream(
            "POST",
            f"/openai/deployments/{name}/chat/completions",
            json={**body, "stream": True},
            headers={"Api-Key": KEY, **named},
        ) as response,
        asyncio.timeout(180),
    ):
        return [line async for line in response.aiter_lines() if line]


def reply_of(lines: list[str]) -> Reply:
    return Reply(200, {}, "\n".join(lines).encode())


def text_of(content: Any) -> str:
    """Return the text of a message, whose content may be a list of parts."""
    if isinstance(content, list):
        return " ".join(part["text"] for part in content if part.get("type") == "text")
    return content if isinstance(content, str) else json.dumps(content)
