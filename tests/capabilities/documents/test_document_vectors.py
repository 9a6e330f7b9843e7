"""Semantic search: when vectors are built, for whom, and the fallback without them."""

import asyncio
from dataclasses import replace
from typing import Any

from apps.agent.events import Event, ModelUsage
from apps.capabilities.documents import document_vectors
from apps.capabilities.documents.cache import cache
from apps.errors import ServiceFailed
from apps.workspace.embeddings.port import Embeddings
from tests.capabilities.documents.agents import CALLER, HOTEL, embedded
from tests.capabilities.manifests import stage_text
from tests.contract import proves
from tests.workspace.embeddings.hashed import HashedEmbedder

QUESTION = "What does a late check-out cost?"


@proves("G-53")
async def test_meaning_finds_what_words_do_not(desk):
    class Synonyms(HashedEmbedder):
        async def embed(self, texts: Any) -> Embeddings:
            return await super().embed([t.replace("departure", "check-out") for t in texts])

    desk.embedder = Synonyms()
    path = await desk.keep("a.txt", b"check-out check-out check-out")

    async with desk.run() as run:
        by_words = await run.ask("departure", path)
        await embedded()
        by_meaning = await run.ask("departure", path)

    assert by_words.content == "Nothing about this was found in 'a.txt'."
    assert by_meaning.content.startswith("Yes [1].")


async def test_without_an_embedding_model_words_alone_are_searched_and_the_stage_says_so(desk):
    desk.embedder = None
    path = await desk.keep("a.txt", HOTEL.encode())
    events: list[Event] = []

    async with desk.run(embedding_deployment_id="gone") as run:
        result = await run.ask(QUESTION, path, emit=events.append)

    assert result.propagated[0].data == "A late check-out costs 20 euros."
    assert "Searched by keywords only. The AI model configured" in stage_text(events)


async def test_an_embedding_model_that_fails_leaves_the_search_by_words(desk):
    class Failing(HashedEmbedder):
        async def embed(self, texts: Any) -> Embeddings:
            raise ServiceFailed("The embedding service is down.")

    desk.embedder = Failing()
    path = await desk.keep("a.txt", HOTEL.encode())
    events: list[Event] = []

    async with desk.run() as run:
        await run.ask(QUESTION, path)
        await embedded()
        result = await run.ask(QUESTION, path, emit=events.append)

    assert result.propagated[0].data == "A late check-out costs 20 euros."
    assert "- a.txt: searched by words; The embedding service is down.\n" in stage_text(events)


class Narrow(HashedEmbedder):
    """Returns shorter vectors than the model of the same name, from that call on."""

    first = 1

    async def embed(self, texts: Any) -> Embeddings:
        found = await super().embed(texts)
        is_narrow = len(self.asked) >= self.first
        return replace(found, vectors=found.vectors[:, :100]) if is_narrow else found


async def test_a_model_that_answers_with_other_vectors_than_before_embeds_anew(desk):
    path = await desk.keep("a.txt", HOTEL.encode())
    async with desk.run() as run:
        await run.ask(QUESTION, path)
        await embedded()

    desk.embedder = Narrow()
    events: list[Event] = []
    async with desk.run() as run:
        result = await run.ask(QUESTION, path)
        await embedded()
        await run.ask(QUESTION, path, emit=events.append)

    assert result.propagated[0].data == "A late check-out costs 20 euros."
    assert "- a.txt: searched by words and by meaning\n" in stage_text(events)


async def test_vectors_of_different_lengths_leave_the_search_by_words(desk, monkeypatch):
    monkeypatch.setattr(document_vectors, "BATCH", 1)
    desk.embedder = Narrow()
    desk.embedder.first = 2
    path = await desk.keep("a.txt", "\n\n".join(["# Part\n\n" + "Word. " * 60] * 3).encode())
    events: list[Event] = []

    async with desk.run() as run:
        await run.ask("word", path)
        await embedded()
        desk.embedder.first = 99
        await run.ask("word", path, emit=events.append)

    told = "searched by words; The embedding model returned vectors of different lengths."
    assert told in stage_text(events)


class Slow(HashedEmbedder):
    """Answers the first texts, and blocks on all others."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting = asyncio.Event()

    async def embed(self, texts: Any) -> Embeddings:
        if self.asked:
            self.waiting.set()
            await asyncio.Event().wait()
        return await super().embed(texts)


async def test_a_deployment_is_asked_and_paid_for_only_while_the_answer_goes_on(desk):
    embedder = desk.embedder = Slow()
    path = await desk.keep("a.txt", (HOTEL * 60).encode())
    spent: list[ModelUsage] = []

    async with desk.run(spend=spent.extend, embedding_deployment_id="hashed") as run:
        await run.ask(QUESTION, path)
        await asyncio.wait_for(embedder.waiting.wait(), 60)
    assert document_vectors.embedding_queue().tasks == {}
    ((document, _),) = cache.entries.values()
    assert document.vectors.count == document_vectors.BATCH

    desk.embedder = HashedEmbedder()
    async with desk.run(spend=spent.extend, embedding_deployment_id="hashed") as run:
        await run.ask(QUESTION, path)
        await embedded()
    assert document.vectors.count == len(document.chunks)
    assert [usage.model for usage in spent] == ["hashed"] * len(spent)
    assert sum(usage.input for usage in spent) > 0


async def test_a_caller_without_files_leaves_nothing_behind(desk):
    embedder = desk.embedder = Slow()
    uri = f"data:text/plain,{'Dogs%20stay%20free.%20' * 4_000}"

    async with desk.run(replace(CALLER, bucket="", folder="")) as run:
        result = await run.ask("dogs", uri)
        await asyncio.wait_for(embedder.waiting.wait(), 60)

    assert (cache.entries, document_vectors.embedding_queue().tasks) == ({}, {})
    assert result.propagated[0].reference_url is None


async def test_documents_are_embedded_one_at_a_time(desk):
    class Counting(HashedEmbedder):
        at_once = most = 0

        async def embed(self, texts: Any) -> Embeddings:
            self.at_once += 1
            self.most = max(self.most, self.at_once)
            await asyncio.sleep(0)
            self.at_once -= 1
            return await super().embed(texts)

    embedder = desk.embedder = Counting()
    paths = [await desk.keep(f"{n}.txt", (HOTEL * 20).encode()) for n in range(3)]

    async with desk.run() as run:
        await run.ask(QUESTION, *paths)
        await embedded()

    assert embedder.most == 1


async def test_a_document_that_nobody_keeps_any_more_is_not_embedded_further(desk):
    embedder = desk.embedder = Slow()
    path = await desk.keep("a.txt", (HOTEL * 60).encode())

    async with desk.run() as run:
        await run.ask(QUESTION, path)
        await asyncio.wait_for(embedder.waiting.wait(), 60)
    (task,) = document_vectors.embedding_queue().tasks.values()
    cache.forget_folder(CALLER.folder)
    await document_vectors.embedding_queue().aclose()

    assert task.done()
    assert cache.entries == {}


async def test_a_document_that_is_too_long_is_searched_by_words(desk, monkeypatch):
    monkeypatch.setattr(document_vectors, "MOST_CHUNKS", 3)
    path = await desk.keep("a.txt", (HOTEL * 20).encode())
    events: list[Event] = []

    async with desk.run() as run:
        await run.ask(QUESTION, path, emit=events.append)

    assert document_vectors.embedding_queue().tasks == {}
    assert document_vectors.TOO_LONG in stage_text(events)


async def test_a_document_that_cannot_be_kept_is_searched_by_words(desk, monkeypatch):
    monkeypatch.setattr("apps.capabilities.documents.cache.most_bytes", lambda: 2**20)
    path = await desk.keep("a.txt", (HOTEL * 2_000).encode())
    events: list[Event] = []

    async with desk.run() as run:
        await run.ask(QUESTION, path, emit=events.append)

    assert (cache.entries, document_vectors.embedding_queue().tasks) == ({}, {})
    assert "- a.txt: searched by words; " in stage_text(events)
