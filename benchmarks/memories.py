"""Measure storing and searching one memory, without its embedding, at 1,000 and 10,000 memories.

    python -m benchmarks.memories

Memories are rows on SQLite and, if TEST_DATABASE_URL is set, on PostgreSQL, and a file at DIAL Core
without its transport. The exit status is 1 if a median at 10,000 memories exceeds its goal, either
without the embedding or with that of a short text by the built-in model.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.goals import is_reached

GOAL_MS, GOAL_IN_ALL_MS = 5.0, 40.0
ROUNDS = 30
WIDTH = 384
SIZES = (1_000, 10_000)


class Embedder:
    """An embedder that returns random vectors immediately."""

    model = "random"

    def __init__(self) -> None:
        # The settings limit its threads, so they are read first.
        import numpy as np

        self.random = np.random.default_rng(1)

    async def embed(self, texts: Sequence[str]):
        from apps.workspace.embeddings.port import Embeddings
        from apps.workspace.embeddings.vectors import unit_rows

        vectors = unit_rows(self.random.normal(size=(len(texts), WIDTH)))
        return Embeddings(self.model, vectors, (0.0,) * len(texts))


Times = tuple[list[float], float]
"""The sorted milliseconds of all rounds, and the median CPU time of this process."""


async def measured(work: Callable[[int], Awaitable[object]], rounds: int = ROUNDS) -> Times:
    """Measure a call. The first round warms up."""
    found, used = [], []
    for number in range(rounds + 1):
        started, before = time.perf_counter(), time.process_time()
        await work(number)
        found.append((time.perf_counter() - started) * 1000)
        used.append((time.process_time() - before) * 1000)
    return sorted(found[1:]), statistics.median(used[1:])


def told(name: str, times: Times) -> float:
    found, used = times
    median = statistics.median(found)
    print(f"{name:42} {found[0]:9.2f} {median:9.2f} {found[-1]:9.2f} {used:9.2f}")
    return median


async def measure(size: int) -> list[float]:
    """Return the medians that have a goal."""
    from apps.workspace.local.memories import memories as local
    from apps.workspace.memories import deduplication, document, operations
    from apps.workspace.memories.cache import CACHE
    from apps.workspace.memories.port import MemoryItem

    local.MOST_MEMORIES = 2 * size
    store, embedder = local.LocalMemories("user-1", f"travel-{size}"), Embedder()
    texts = (f"Fact number {number} about this person, in a sentence" for number in range(size))
    memories = [MemoryItem(number, text) for number, text in enumerate(texts)]
    await operations.added_with(store, embedder, memories, await embedder.embed([""] * size))
    medians = [
        told(
            f"store one of {size:,}",
            await measured(
                lambda n: operations.add(store, embedder, MemoryItem(10**9, f"Another {n}"))
            ),
        ),
        told(
            f"search {size:,}",
            await measured(lambda n: operations.search(store, embedder, f"What {n}", 5)),
        ),
    ]

    async def read(number: int) -> None:
        CACHE.clear()
        await store.load()

    async def duplicates(number: int) -> None:
        deduplication.find_duplicates(collection)

    async def written(number: int) -> None:
        document.write_memories(collection, datetime.now(UTC))

    async def decoded(number: int) -> None:
        document.parse_memories(content)

    collection = await store.load()
    content = document.write_memories(collection, datetime.now(UTC))
    told(f"first read of {size:,}", await measured(read, 5))
    told(f"look for duplicates among {size:,}", await measured(duplicates, 3))
    if size == SIZES[0]:
        told(f"write the file of {size:,}, {len(content) / 1e6:.1f} MB", await measured(written, 5))
        told("read it", await measured(decoded, 5))
    return medians if size == SIZES[-1] else []


def measure_on(address: str) -> bool:
    """Return True if the goals are met with the rows in that database."""
    os.environ["DATABASE_URL"] = address
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "quickapps_site.settings")
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    from apps.workspace.local.models import MemoryCollection

    MemoryCollection.objects.filter(application__startswith="travel-").delete()
    print(f"\n{address.partition(':')[0]}, milliseconds:{'':13}least    median      most       CPU")
    medians = [one for size in SIZES for one in asyncio.run(measure(size))]
    embedding = asyncio.run(embedding_of_a_fact())
    goals = [("store", medians[0]), ("search", medians[1])]
    reached = [
        is_reached(f"{name} among {SIZES[-1]:,}{what}", median + more, most, "ms")
        for name, median in goals
        for what, more, most in (
            (", beside the embedding", 0.0, GOAL_MS),
            (", in all", embedding, GOAL_IN_ALL_MS),
        )
    ]
    return all(reached)


async def embedding_of_a_fact() -> float:
    from apps.workspace.embeddings.built_in import BuiltInEmbedder

    embedder = BuiltInEmbedder()
    return told(
        "embed a fact, built-in model",
        await measured(lambda n: embedder.embed([f"My sister number {n} lives in Oslo."])),
    )


def main() -> int:
    if len(sys.argv) > 1:
        return 0 if measure_on(sys.argv[1]) else 1
    # Each database needs its own process, because Django is set up once.
    import subprocess

    with tempfile.TemporaryDirectory() as folder:
        addresses = [f"sqlite:///{Path(folder) / 'memories.sqlite3'}"]
        if postgres := os.environ.get("TEST_DATABASE_URL"):
            addresses.append(postgres)
        command = [sys.executable, "-m", "benchmarks.memories"]
        statuses = [subprocess.run([*command, one], check=False).returncode for one in addresses]
    return max(statuses)


if __name__ == "__main__":
    raise SystemExit(main())
