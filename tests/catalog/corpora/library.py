"""Shared files, applications that they are attached to, and a process that indexes them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from asgiref.sync import async_to_sync
from django.core.files.base import ContentFile

from apps.agent.meter import Meter
from apps.catalog.corpora.indexer import Indexer
from apps.catalog.models import Application
from apps.insights.meter import CallEntry, server_meter
from apps.workspace.embeddings.port import Embedder
from apps.workspace.local.corpora.corpus import CorpusDocument
from apps.workspace.local.files import files
from tests.catalog.rows import make_application, manifest_with
from tests.workspace.embeddings.hashed import HashedEmbedder

GUIDES = {"type": "folder", "url": "files/public/guides/"}


def manifest(*contexts: Any, **wanted: Any) -> dict[str, Any]:
    return manifest_with(
        contexts=list(contexts or (GUIDES,)),
        features={"documents": {"enabled": True, **wanted}, "timestamp": None},
    )


def attach(*contexts: Any, slug: str = "travel", **fields: Any) -> Application:
    return make_application(slug, manifest=manifest(*contexts), **fields)


def share(name: str, content: bytes | str, kind: str = "text/plain") -> str:
    """Share a file. Return its path, which everyone can read."""
    content = content.encode() if isinstance(content, str) else content
    return files.share(f"guides/{name}", ContentFile(content), kind).path


def documents() -> dict[str, tuple[str, int, int]]:
    """Return the state and the numbers of chunks and vectors of each document, by name without the
    folder."""
    rows = CorpusDocument.objects.all()
    return {
        row.name.removeprefix("guides/"): (row.state, row.chunk_count, row.vector_count)
        for row in rows
    }


def problem(name: str) -> str:
    return CorpusDocument.objects.get(name=f"guides/{name}").problem


@dataclass
class Process:
    """A process that finds the embedder of each deployment that an application names."""

    embedder: Embedder = field(default_factory=HashedEmbedder)
    asked: list[str | None] = field(default_factory=list)
    calls: list[CallEntry] = field(default_factory=list)
    """Reported calls of deployments."""

    def __post_init__(self) -> None:
        self.indexer = Indexer(self.find_embedder, self.meter_of)

    async def find_embedder(self, deployment_id: str | None) -> Embedder:
        self.asked.append(deployment_id)
        return self.embedder

    def meter_of(self, slug: str, version: int) -> Meter:
        return server_meter(self.calls.append, slug, version)

    def look(self) -> dict[str, tuple[str, int, int]]:
        """Check everything once. Return the documents."""
        async_to_sync(self.indexer.run_pass)()
        return documents()
