"""Measure the cost of moving a large corpus to the database, indexing it and searching it.

    python -m benchmarks.corpora --chunks 100000 200000

The passages are generated: word frequencies as in prose, and clustered vectors of 384 numbers. The
benchmark starts its own PostgreSQL with pgvector.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from tests.databases.pgvector import served

WIDTH = 384
OF_A_DOCUMENT = 1_000
WORDS = 100
"""The length of a passage."""
VOCABULARY = 200_000
QUESTIONS = 30
AT_ONCE = 10_000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, nargs="+", default=[100_000])
    sizes = parser.parse_args().chunks
    with served() as found:
        host = found["HOST"]
        os.environ["DATABASE_URL"] = f"postgres://postgres@/postgres?host={host}"
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "quickapps_site.settings")
        import django

        django.setup()
        from django.conf import settings
        from django.core.management import call_command
        from django.db import connection

        settings.DATABASES["default"].update(found | {"NAME": "postgres"})
        connection.settings_dict.update(found | {"NAME": "postgres"})
        connection.cursor().execute("CREATE EXTENSION IF NOT EXISTS vector")
        call_command("migrate", verbosity=0)
        for size in sizes:
            asyncio.run(measure(size))
    return 0


async def measure(size: int) -> None:
    from channels.db import database_sync_to_async

    print(f"\n{size:,} passages", flush=True)
    corpus = await database_sync_to_async(filled)(size)
    claim, dimension = await database_sync_to_async(moved)(corpus)
    from apps.workspace.local.corpora import hnsw as corpus_hnsw

    corpus_hnsw.EXACT_MOST = size  # first without the index, then with it
    await searched(size, corpus)
    corpus_hnsw.EXACT_MOST = 0
    with told("index of the vectors"):
        await database_sync_to_async(corpus_hnsw.make_index)(dimension, size)
    await searched(size, corpus)
    await database_sync_to_async(claim.rows().delete)()


@contextmanager
def told(name: str) -> Iterator[None]:
    started, before = time.perf_counter(), time.process_time()
    yield
    seconds, used = time.perf_counter() - started, time.process_time() - before
    print(f"{name:42} {seconds:9.1f} s, of it CPU of this process {used:.1f}")


def filled(size: int) -> Any:
    """Return a corpus with all its passages and vectors, as the indexer stores them."""
    import numpy as np

    from apps.workspace.embeddings.vectors import unit_rows
    from apps.workspace.local.models import Corpus, CorpusChunk, CorpusDocument

    random = np.random.default_rng(size)
    centres = random.normal(size=(1_000, WIDTH))
    corpus = Corpus.objects.create(application=f"corpus-{size}", holder="benchmark")
    for start in range(0, size, OF_A_DOCUMENT):
        rows = centres[random.integers(len(centres), size=OF_A_DOCUMENT)]
        vectors = unit_rows((rows + random.normal(size=rows.shape)).astype(np.float32))
        words = random.zipf(1.2, size=(OF_A_DOCUMENT, WORDS)) % VOCABULARY
        pages = [[1, "", ""]]
        document = CorpusDocument.objects.create(
            corpus=corpus,
            bucket="public",
            name=f"{start}.txt",
            state="ready",
            is_read=True,
            chunk_count=OF_A_DOCUMENT,
            vector_count=OF_A_DOCUMENT,
            model="random",
            version="1",
            text={"noun": "page", "notice": "", "pages": pages},
        )
        CorpusChunk.objects.bulk_create(
            CorpusChunk(
                document=document,
                position=place,
                text=text_of(words[place]),
                page=1,
                start=0,
                end=600,
                vector=vectors[place].tobytes(),
                model="random",
                dimension=WIDTH,
            )
            for place in range(OF_A_DOCUMENT)
        )
    return corpus


def text_of(numbers: Sequence[int]) -> str:
    return " ".join(f"w{number:x}" for number in numbers)


def moved(corpus: Any) -> tuple[Any, int]:
    from django.db import connection

    from apps.workspace.local.corpora import large_corpora
    from apps.workspace.local.corpora.claims import CorpusClaim

    claim, last = CorpusClaim(corpus.pk, "benchmark"), 0
    with told("copies of words and vectors"):
        while (document := large_corpora.next_uncopied(claim, last)) is not None:
            large_corpora.copy(claim, document)
            last = document.pk
        large_corpora.finish_moving(claim)
    connection.cursor().execute("VACUUM ANALYZE")
    return claim, WIDTH


async def searched(size: int, corpus: Any) -> None:
    import numpy as np
    from channels.db import database_sync_to_async

    from apps.capabilities.documents.document_vectors import RequestVector
    from apps.capabilities.documents.large_corpus import LargeCorpus
    from apps.workspace.corpora import AttachedDocument
    from apps.workspace.local.corpora import vector_store as corpus_vectors
    from apps.workspace.local.corpora.attached import LocalCorpus
    from apps.workspace.local.models import CorpusChunk, CorpusDocument

    def known() -> tuple[list[AttachedDocument], Any]:
        rows = CorpusDocument.objects.filter(corpus=corpus).order_by("pk").defer("text")
        found = [
            AttachedDocument(row.pk, row.address, "", "1", True, "ready", "", 1, 1, "random")
            for row in rows
        ]
        some = CorpusChunk.objects.filter(document=found[0].number).order_by("position")[:QUESTIONS]
        given = [np.frombuffer(row.vector, np.float32) for row in some]
        return found, np.stack(given)

    documents, vectors = await database_sync_to_async(known)()
    random = np.random.default_rng(1)
    vectors = vectors + random.normal(size=vectors.shape).astype(np.float32) * 0.02
    words = [text_of(random.zipf(1.2, size=12) % VOCABULARY) for _ in range(QUESTIONS)]
    numbers = [one.number for one in documents]
    reader = LocalCorpus(f"corpus-{size}", "")
    whole = LargeCorpus(reader, documents)
    exactly = database_sync_to_async(corpus_vectors.exactly)
    before = psutil.Process().memory_info().rss
    await timed("search by words", lambda n: reader.with_words(numbers, words[n], 50))
    near = await timed(
        "search by meaning", lambda n: reader.nearest(numbers, "random", vectors[n], 50, -1.0)
    )
    exact = await timed(
        "search by meaning, exact", lambda n: exactly(numbers, "random", vectors[n], 50)
    )
    await timed(
        "passages of a request",
        lambda n: whole.search(words[n], RequestVector("random", vectors[n]), 5),
    )
    shares = [
        len(set(a) & {(d, p) for d, p, _ in b}) / len(b) for a, b in zip(near, exact, strict=True)
    ]
    print(f"{'recall@50 by meaning':42} {statistics.mean(shares):9.3f}")
    print(
        f"{'memory that searches added':42} {(psutil.Process().memory_info().rss - before) / 2**20:9.1f} MB"
    )


async def timed(name: str, work: Callable[[int], Awaitable[Any]]) -> list[Any]:
    """Return the results of all questions. The first question warms up."""
    found, times = [await work(0)], []
    before = cpu_seconds()
    for number in range(1, QUESTIONS):
        started = time.perf_counter()
        found.append(await work(number))
        times.append((time.perf_counter() - started) * 1000)
    cpu = (cpu_seconds() - before) * 1000 / len(times)
    print(f"{name:42} {statistics.median(times):9.1f} ms, CPU {cpu:.1f}", flush=True)
    return found


def cpu_seconds() -> float:
    """Return the CPU time of this process, and of the database with its current and former
    children."""
    from django.db import connection

    folder = connection.settings_dict["HOST"]
    server = psutil.Process(int(Path(folder, "postmaster.pid").read_text().split()[0]))
    return sum(map(seconds_of, (psutil.Process(), *server.children(), server)))


def seconds_of(process: psutil.Process) -> float:
    try:
        spent = process.cpu_times()
    except psutil.NoSuchProcess:  # a helper process of the server; its time is counted from here on
        return 0.0
    return float(spent.user + spent.system + spent.children_user + spent.children_system)


if __name__ == "__main__":
    raise SystemExit(main())
