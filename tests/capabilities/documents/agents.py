"""An application that reads documents, for one caller, and its model."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from apps.accounts.caller import Caller
from apps.agent.events import Emit
from apps.agent.meter import NO_METER, Meter
from apps.agent.stages import silent
from apps.agent.tools import Invocation, Spend, Tool, ToolResult, ignore_usage
from apps.capabilities.documents.capability import documents
from apps.capabilities.documents.document_vectors import embedding_queue
from apps.capabilities.registry import ContinuedConversation, Opening
from apps.errors import DeploymentNotFound, InvalidParameter
from apps.workspace.embeddings.port import Embedder
from apps.workspace.loading.shared_loads import Loading, rules_of
from apps.workspace.port import DeploymentInfo
from apps.workspace.stored_files import FileContent, FileInfo
from tests.capabilities.manifests import manifest
from tests.fakes import FakeWorkspace, ScriptedModel, saying
from tests.workspace.embeddings.hashed import HashedEmbedder

CALLER = Caller("user-1", "user", user_id=1, folder="conversations/c1/")
HOTEL = (
    "# Breakfast\n\nBreakfast is served from seven until ten.\n\n# Dogs\n\nDogs stay free of charge."
    "\n\n# Late check-out\n\nA late check-out costs 20 euros. Ask at the desk before nine.\n\n"
    "# Pool\n\nThe pool is heated in winter.\n"
)


class DeskWorkspace(FakeWorkspace):
    """The caller's own files, with a count of their reads."""

    embeds: Embedder | None = None
    reads: list[str]
    is_owner = True

    def __init__(self, caller: Caller) -> None:
        super().__init__(caller)
        self.reads = []

    async def embedder(self, deployment_id: str | None) -> Any:
        if self.embeds is None:
            raise DeploymentNotFound(deployment_id or "embeddings")
        return self.embeds

    @property
    def files(self) -> Any:
        files, reads, is_owner = super().files, self.reads, self.is_owner

        class Counting(type(files)):  # type: ignore[misc]
            async def read(self, path: str, *, limit: int | None = None) -> FileContent:
                reads.append(path)
                found: FileContent = await super().read(path, limit=limit)
                return found

            async def is_own(self, path: str) -> bool:
                return is_owner

        return Counting(self.caller.bucket, self.caller.folder)


@dataclass
class Run:
    """The tools of one run."""

    opening: Opening
    tools: Sequence[Tool]
    instructions: Sequence[str]

    async def call(self, name: str, emit: Emit = silent, **arguments: Any) -> ToolResult:
        tool = next(tool for tool in self.tools if tool.spec.name == name)
        return await tool.call(Invocation("call-1", arguments, (), emit))

    async def ask(self, request: str, *urls: str, emit: Emit = silent) -> ToolResult:
        arguments = {"file_url": urls[0]} if len(urls) == 1 else {"file_urls": list(urls)}
        return await self.call("rag_tool", emit, request=request, **arguments)

    async def read(self, url: str, **arguments: Any) -> str:
        found = await self.call("file_content_extraction_tool", file_url=url, **arguments)
        return found.content

    async def refused(self, name: str = "rag_tool", **arguments: Any) -> str:
        try:
            result = await self.call(name, **arguments)
        except InvalidParameter as error:
            return str(error)
        assert result.failure is not None
        return str(result.failure)


@dataclass
class Desk:
    """Runs of an application. `model` answers from excerpts, and `contexts` are attached to it.
    `slug` is the name of a stored one, "" for none."""

    model: ScriptedModel = field(default_factory=lambda: ScriptedModel(*[saying("Yes [1].")] * 20))
    embedder: Embedder | None = field(default_factory=HashedEmbedder)
    reads: list[str] = field(default_factory=list)
    is_owner: bool = True
    contexts: Sequence[Any] = ()
    slug: str = ""
    eyes: ScriptedModel | None = None
    """The model `eyes`, which accepts images."""
    files: Literal["path", "none"] = "path"
    """How that model accepts them."""

    def workspace(self, caller: Caller = CALLER) -> DeskWorkspace:
        found = DeskWorkspace(caller)
        found.models, found.embeds, found.reads = (
            {"some-model": self.model},
            self.embedder,
            self.reads,
        )
        found.is_owner = self.is_owner
        if self.eyes is not None:
            found.models = {**found.models, "eyes": self.eyes}
            found.infos = {
                "eyes": DeploymentInfo(
                    "eyes", "Eyes", input_attachment_types=("image/*",), files=self.files
                )
            }
        return found.inside(self.slug) if self.slug else found

    @asynccontextmanager
    async def run(
        self,
        caller: Caller = CALLER,
        spend: Spend = ignore_usage,
        state: Mapping[str, Any] = {},
        meter: Meter = NO_METER,
        size_limit: int | None = None,
        **wanted: Any,
    ) -> AsyncIterator[Run]:
        features = {
            "documents": {"enabled": True, **wanted},
            "timestamp": None,
            "file_loading": {"size_limit": size_limit},
        }
        given = manifest(features=features, contexts=self.contexts)
        opener = documents.prepare(given)
        assert opener is not None
        loading = Loading(rules_of(given))
        opening = Opening(
            self.workspace(caller),
            caller,
            silent,
            ContinuedConversation(state=state),
            loading=loading,
            spend=spend,
            meter=meter,
        )
        async with opener(opening) as found:
            yield Run(opening, found.tools, found.instructions)

    async def keep(
        self, name: str, content: bytes, kind: str = "text/plain", caller: Caller = CALLER
    ) -> str:
        info: FileInfo = await self.workspace(caller).files.keep(name, content, kind)
        return info.path

    @property
    def asked(self) -> list[str]:
        """Return the model's requests."""
        return [request.messages[-1].text for request in self.model.asked]


async def embedded() -> None:
    """Wait until no embedding is running."""
    while tasks := list(embedding_queue().tasks.values()):
        await asyncio.wait(tasks)
        await asyncio.sleep(0)
