"""Agents of the A2A protocol: one that follows a script, and applications of ours behind their door."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from apps.agent.tools import Tool
from apps.capabilities.a2a_agents.capability import a2a_agents
from tests.capabilities.manifests import Files, manifest, opened
from tests.capabilities.service import Reply, Seen, Service, json_reply, serving

EVENTS = {"Content-Type": "text/event-stream"}
WORKING = {"task": {"id": "t1", "contextId": "c1", "status": {"state": "TASK_STATE_WORKING"}}}


@dataclass
class ScriptedAgent:
    """`replies` are the answers to operations by their names, and files by their paths; the last
    reply is repeated.
    """

    binding: str = "JSONRPC"
    card: dict[str, Any] = field(default_factory=dict)
    replies: dict[str, list[Reply]] = field(default_factory=dict)
    is_silent: bool = False
    """Operations get no answer."""
    asked: list[tuple[str, Any]] = field(default_factory=list)
    """The operations that were called, with their parameters."""
    heads: list[Seen] = field(default_factory=list)
    """The requests for files and operations, and for the card."""
    service: Service = field(default_factory=lambda: Service(""))

    @property
    def url(self) -> str:
        return f"{self.service.url}/travel"

    @property
    def told(self) -> dict[str, Any]:
        interface = {
            "url": f"{self.url}/call",
            "protocolBinding": self.binding,
            "protocolVersion": "1.0",
        }
        return {
            "name": "Travel Agent",
            "description": "Books journeys.",
            "version": "1",
            "supportedInterfaces": [interface],
            "capabilities": {"streaming": True},
            "defaultInputModes": ["text/plain", "image/*"],
            "defaultOutputModes": ["text/plain"],
            "skills": [],
            **self.card,
        }

    async def answer(self, seen: Seen) -> Reply:
        self.heads.append(seen)
        if seen.target.endswith("/.well-known/agent-card.json"):
            return self.next("card") or json_reply(json.dumps(self.told))
        if (file := self.next(seen.target)) is not None:
            return file
        operation, params = self.read(seen)
        self.asked.append((operation, params))
        if self.is_silent:
            await asyncio.Event().wait()
        return self.next(operation) or Reply(404)

    def next(self, operation: str) -> Reply | None:
        replies = self.replies.get(operation, [])
        return replies.pop(0) if len(replies) > 1 else replies[0] if replies else None

    def read(self, seen: Seen) -> tuple[str, Any]:
        if seen.target == "/travel/call" and self.binding == "JSONRPC":
            call = json.loads(seen.body)
            return call["method"], call["params"]
        path = seen.target.removeprefix("/travel/call")
        return f"{seen.method} {path}", json.loads(seen.body or b"null")

    def streams(self, *updates: dict[str, Any]) -> Reply:
        written = map(self.written, updates)
        return Reply(200, "".join(f"data: {one}\n\n" for one in written).encode(), EVENTS)

    def returns(self, result: dict[str, Any]) -> Reply:
        return json_reply(self.written(result))

    def written(self, result: dict[str, Any]) -> str:
        if self.binding != "JSONRPC" or "error" in result:
            return json.dumps(result)
        return json.dumps({"jsonrpc": "2.0", "id": "1", "result": result})


@asynccontextmanager
async def scripted(**fields: Any) -> AsyncIterator[ScriptedAgent]:
    agent = ScriptedAgent(**fields)
    async with serving(answer=agent.answer) as agent.service:
        yield agent


@asynccontextmanager
async def tool_of(url: str, files: Files | None = None, **fields: Any) -> AsyncIterator[Tool]:
    """The tool of an application with the agent at that address."""
    async with opened(a2a_agents, document(url, **fields), files=files) as contribution:
        assert contribution.issues == ()
        [tool] = contribution.tools
        yield tool


def document(url: str, **fields: Any) -> Any:
    rest = fields.pop("manifest", {})
    return manifest({"type": "a2a-agent", "name": "travel", "url": url, **fields}, **rest)


def text(text: str, *, append: bool = False, id: str = "a") -> dict[str, Any]:
    artifact = {"artifactId": id, "parts": [{"text": text}]}
    return artifact_update(artifact, append=append)


def files(*parts: dict[str, Any]) -> dict[str, Any]:
    return artifact_update({"artifactId": "files", "parts": list(parts)})


def artifact_update(artifact: dict[str, Any], *, append: bool = False) -> dict[str, Any]:
    ids = {"taskId": "t1", "contextId": "c1"}
    return {"artifactUpdate": {**ids, "artifact": artifact, "append": append}}


def status(state: str, text: str = "") -> dict[str, Any]:
    told: dict[str, Any] = {"state": f"TASK_STATE_{state}"}
    if text:
        message = {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": text}]}
        told["message"] = message
    return {"statusUpdate": {"taskId": "t1", "contextId": "c1", "status": told}}


def task(state: str, artifacts: Sequence[dict[str, Any]] = (), text: str = "") -> dict[str, Any]:
    told = status(state, text)["statusUpdate"]["status"]
    return {"id": "t1", "contextId": "c1", "status": told, "artifacts": list(artifacts)}
