"""The interpreter as an application has it, with short calls."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from django.conf import settings

from apps.accounts.caller import Caller, Credentials
from apps.agent.events import Emit
from apps.agent.messages import Attachment, ModelMessage
from apps.agent.stages import silent
from apps.agent.taint import Taint
from apps.agent.tools import Invocation, Tool, ToolResult
from apps.capabilities.interpreter.capability import interpreter
from apps.capabilities.registry import ContinuedConversation, Opening
from apps.errors import FileRefused
from apps.manifest.manifest import Manifest
from apps.workspace.port import Workspace
from apps.workspace.stored_files import FileContent, FileInfo
from tests.capabilities.manifests import Files, manifest

CALLER = Caller("user-7", credentials=Credentials(api_key="caller-key"))
MOMENT = datetime(2026, 3, 24, tzinfo=UTC)


def predefined_tool() -> dict[str, Any]:
    path = Path(settings.BASE_DIR) / "predefined" / "tool" / "py_interpreter.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def document(tool: Mapping[str, Any] | None = None, **rest: Any) -> Manifest:
    toolset = {
        "type": "internal",
        "name": "internal-tool-set",
        "tools": [tool or predefined_tool()],
    }
    return manifest(toolset, **rest)


class Folder(Files):
    """Files of the caller, by path."""

    def __init__(self, **stored: bytes) -> None:
        super().__init__()
        self.stored = {f"files/user-7/{name}": content for name, content in stored.items()}

    async def is_own(self, path: str) -> bool:
        return path.startswith("files/user-7/")

    async def read(self, path: str, *, limit: int | None = None) -> FileContent:
        if path not in self.stored:
            raise FileRefused(f"The file {path!r} does not exist, or you have no access.")
        content = self.stored[path]
        return FileContent(FileInfo(path, "text/csv", len(content), "1", MOMENT), content)


@dataclass
class Python:
    """The tool of one run. `saved` is the run's state for the next one."""

    tool: Tool
    saved: dict[str, Any]
    messages: Sequence[ModelMessage] = ()
    taint: Taint = field(default_factory=Taint)
    results: list[ToolResult] = field(default_factory=list)

    async def call(self, code: str, emit: Emit = silent, **arguments: Any) -> ToolResult:
        given = {"title": "Try it", "code": code, **arguments}
        result = await self.tool.call(Invocation("call-1", given, self.messages, emit))
        self.results.append(result)
        return result

    async def run(self, code: str, **arguments: Any) -> dict[str, Any]:
        """Run code. Return the model's result without empty fields."""
        return read(await self.call(code, **arguments))


def read(result: ToolResult) -> dict[str, Any]:
    text = result.content.removeprefix("```json\n").removesuffix("\n```")
    return {key: value for key, value in json.loads(text).items() if value not in ("", {})}


@asynccontextmanager
async def python(
    files: Files | None = None,
    state: Mapping[str, Any] | None = None,
    messages: Sequence[ModelMessage] = (),
    caller: Caller = CALLER,
    manifest: Manifest | None = None,
) -> AsyncIterator[Python]:
    opening = Opening(
        cast(Workspace, files or Folder()), caller, silent, ContinuedConversation(state=state or {})
    )
    opener = interpreter.prepare(manifest or document())
    assert opener is not None
    async with opener(opening) as contribution:
        (tool,) = contribution.tools
        yield Python(tool, opening.conversation.saved, messages, opening.taint)


def attached(*urls: str) -> ModelMessage:
    return ModelMessage("user", "Look", attachments=tuple(Attachment(url=url) for url in urls))


def answered(state: Mapping[str, Any]) -> ModelMessage:
    return ModelMessage("assistant", "Done", state=dict(state))
