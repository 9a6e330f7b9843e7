"""DIAL's code interpreter on the loopback, with sessions, files and scripted answers."""

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.capabilities.service import Reply, Seen, Service, json_reply, serving

PREFIX = "/v1/ops/code_interpreter/"
SUCCESS = {"status": "SUCCESS", "result": "2", "stdout": "", "stderr": "", "display": []}


@dataclass
class Interpreter:
    """`scripted` replies are used first, by operation. `None` means that it never answers."""

    sessions: dict[str, dict[str, str]] = field(default_factory=dict)
    answer: Mapping[str, Any] = field(default_factory=lambda: SUCCESS)
    scripted: dict[str, list[Reply | None]] = field(default_factory=dict)
    service: Service | None = None
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    @property
    def operations(self) -> list[str]:
        assert self.service is not None
        return [operation_of(seen) for seen in self.service.seen]

    @property
    def keys(self) -> set[str]:
        assert self.service is not None
        return {seen.headers.get("api-key", "") for seen in self.service.seen}

    def bodies(self, operation: str) -> list[Any]:
        assert self.service is not None
        return [json.loads(s.body) for s in self.service.seen if operation_of(s) == operation]

    async def reply(self, seen: Seen) -> Reply:
        operation = operation_of(seen)
        if script := self.scripted.get(operation):
            reply = script.pop(0)
            if reply is None:
                await asyncio.Event().wait()
            assert reply is not None
            return reply
        if seen.target == "/v1/bucket":
            return json_reply('{"bucket": "dev"}')
        if seen.method == "PUT":
            return json_reply("{}")
        return self.operate(operation, json.loads(seen.body))

    def operate(self, operation: str, body: dict[str, Any]) -> Reply:
        if operation == "open_session":
            assert body == {"sessionId": None}
            body["sessionId"] = f"session-{next(self.numbers)}"
            self.sessions[body["sessionId"]] = {}
            return answered({"sessionId": body["sessionId"]})
        files = self.sessions.get(body["sessionId"])
        if files is None:
            return Reply(404)
        match operation:
            case "get_session":
                return Reply(200)
            case "close_session":
                del self.sessions[body["sessionId"]]
                return Reply(204)
            case "list_files":
                return answered({"files": [{"path": f"/mnt/{n}", "size": 1} for n in files]})
            case "transfer_input_file":
                files[body["targetPath"]] = body["sourceUrl"]
                return answered({"path": body["targetPath"], "size": 1})
            case _:
                return answered(self.answer)


def answered(body: object) -> Reply:
    return json_reply(json.dumps(body))


def operation_of(seen: Seen) -> str:
    if seen.target.startswith(PREFIX):
        return seen.target.removeprefix(PREFIX)
    return f"{seen.method} {seen.target}"


@asynccontextmanager
async def dial_interpreter(settings: Any, **rest: Any) -> AsyncIterator[Interpreter]:
    """Serve one, which the settings point to."""
    found = Interpreter(**rest)
    async with serving(answer=found.reply) as service:
        found.service = service
        settings.PY_INTERPRETER_URL = f"{service.url}/"
        settings.PRIVATE_NETWORK_ALLOWLIST = ["127.0.0.1"]
        yield found
