from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence

import numpy as np
import pytest

from apps.accounts.caller import Caller
from apps.workspace.embeddings import built_in
from apps.workspace.embeddings.built_in import BATCH, BuiltInEmbedder
from apps.workspace.embeddings.port import Embeddings
from apps.workspace.local.workspace import LocalWorkspace


async def test_texts_of_like_meaning_are_close():
    embedder = await LocalWorkspace(Caller("user-1")).embedder(None)

    found = await embedder.embed(["She has a cat.", "Her pet is a feline.", "Rates rise."])

    likeness = found.vectors @ found.vectors.T
    assert (found.model, embedder.model) == ("all-minilm-l6-v2", "all-minilm-l6-v2")
    assert likeness[0, 1] > 0.5 > 0.3 > likeness[0, 2]
    assert found.prompt_tokens == 21


async def test_the_share_of_unknown_tokens_is_told():
    """R-10: otherwise, these texts would seem similar."""
    found = await BuiltInEmbedder().embed(["我喜欢喝咖啡", "天气很冷今天", "I like coffee", ""])

    first, second, known, nothing = found.unknown_shares
    assert min(first, second) > 0.3
    assert (known, nothing) == (0.0, 0.0)


async def test_a_text_without_content_is_a_row_of_zeros():
    found = await BuiltInEmbedder().embed(["", "tea", " \n\t\u200b"])

    assert [bool(row.any()) for row in found.vectors] == [False, True, False]


async def test_no_texts_are_no_rows():
    found = await BuiltInEmbedder().embed([])

    assert (found.vectors.shape, found.unknown_shares) == ((0, 384), ())


class Worker:
    """A fake of the model. `begun` has the first text of each batch, and the thread that embedded
    it."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.threads: set[str] = set()
        self.has_begun = threading.Event()
        self.may_go_on = threading.Event()

    def embed_batch(self, texts: Sequence[str]) -> Embeddings:
        self.begun.append(texts[0])
        self.threads.add(threading.current_thread().name)
        self.has_begun.set()
        self.may_go_on.wait(60)
        return Embeddings("m", np.ones((len(texts), 1), np.float32), (0.0,) * len(texts))


@pytest.fixture
def worker(monkeypatch):
    made = Worker()
    monkeypatch.setattr(built_in, "embed_batch", made.embed_batch)
    yield made
    made.may_go_on.set()


def numbered(name: str, count: int) -> list[str]:
    return [f"{name}{number}" for number in range(count * BATCH)]


async def test_callers_take_turns_in_a_thread_of_its_own(worker):
    embedder = BuiltInEmbedder()
    async with asyncio.TaskGroup() as group:
        long = group.create_task(embedder.embed(numbered("a", 3)))
        await asyncio.to_thread(worker.has_begun.wait, 60)
        short = group.create_task(embedder.embed(["b0"]))
        await asyncio.sleep(0)  # it has queued its batch
        worker.may_go_on.set()

    assert worker.begun == ["a0", "b0", f"a{BATCH}", f"a{2 * BATCH}"]
    assert worker.threads == {"embeddings_0"}
    assert (len(long.result().vectors), len(short.result().vectors)) == (3 * BATCH, 1)


async def test_what_was_cancelled_is_not_embedded(worker):
    task = asyncio.create_task(BuiltInEmbedder().embed(numbered("a", 3)))
    await asyncio.to_thread(worker.has_begun.wait, 60)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    worker.may_go_on.set()
    await BuiltInEmbedder().embed(["b0"])

    assert worker.begun == ["a0", "b0"]
