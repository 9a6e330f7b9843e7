"""Measure how often a search finds the answer to a question: by words, by meaning, and by both.

    python -m benchmarks.quality

The measure is recall@5: the share of questions for which the single correct fact, or a chunk with
the answer, is among the first five results. The texts were written for this benchmark;
`docs/performance.md` explains the numbers, which do not depend on the machine.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from apps.capabilities.documents.index import DocumentIndex
    from apps.capabilities.documents.retrieval import ChunkId, Scores

DATA = Path(__file__).parent / "data" / "quality"
FIRST = 5
WAYS = ("words", "meaning", "both")


@dataclass(frozen=True, slots=True)
class Fact:
    fact: str
    question: str


@dataclass(frozen=True, slots=True)
class DocumentQuestion:
    """A question about a document. `source` are words of the answer that occur once in the
    document."""

    document: str
    question: str
    source: str


def facts() -> list[Fact]:
    return [Fact(**one) for one in json.loads((DATA / "facts.json").read_text("utf-8"))]


def document_questions() -> list[DocumentQuestion]:
    found = json.loads((DATA / "questions.json").read_text("utf-8"))
    return [DocumentQuestion(**one) for one in found]


def documents() -> dict[str, str]:
    return {path.stem: path.read_text("utf-8") for path in sorted(DATA.glob("*.md"))}


def indexes() -> list[DocumentIndex]:
    """Return the documents as an answer searches them, without vectors."""
    from apps.capabilities.documents.index import DocumentIndex
    from apps.documents.structure import Page, PagedText

    return [
        DocumentIndex(name, "text/markdown", "", PagedText((Page(text),)))
        for name, text in documents().items()
    ]


async def fact_recall() -> dict[str, float]:
    """Return the recall of facts. Memories are searched by meaning; the two other numbers are for
    comparison."""
    from apps.capabilities.documents.retrieval import ChunkId
    from apps.documents.bm25 import Bm25Index, word_scores
    from apps.workspace.embeddings.built_in import BuiltInEmbedder
    from apps.workspace.memories.port import MemoryItem, MemoryList
    from apps.workspace.memories.similarity import nearest_memories

    asked, embedder = facts(), BuiltInEmbedder()
    contents = [one.fact for one in asked]
    made = await embedder.embed(contents)
    memories = tuple(MemoryItem(number, content) for number, content in enumerate(contents))
    collection, words = MemoryList(memories, made.vectors, made.model), Bm25Index(contents)
    found = dict.fromkeys(WAYS, 0)
    for right, one in enumerate(asked):
        question = await embedder.embed([one.question])
        hits = nearest_memories(collection, one.question, question, len(memories))
        by_words: Scores = {}
        for _, number, score in word_scores([words], one.question):
            place = ChunkId(0, number)
            by_words[place] = by_words.get(place, 0.0) + score
        by_meaning = scores_of({hit.memory.id: hit.score for hit in hits})
        rankings = {"words": [by_words], "meaning": [by_meaning], "both": [by_words, by_meaning]}
        for way, ranking in rankings.items():
            found[way] += ChunkId(0, right) in first_places(ranking)
    return {way: count / len(asked) for way, count in found.items()}


def first_places(rankings: Sequence[Scores]) -> list[ChunkId]:
    from apps.capabilities.documents.retrieval import merge_rankings

    points = merge_rankings(rankings)
    return sorted(points, key=lambda place: (-points[place], place))[:FIRST]


def scores_of(scores: dict[int, float]) -> Scores:
    from apps.capabilities.documents.retrieval import ChunkId

    return {ChunkId(0, number): score for number, score in scores.items()}


async def document_recall() -> dict[str, float]:
    """Return the recall of documents, which are searched together like the files of a conversation."""
    from apps.capabilities.documents.document_vectors import NO_COST, embed_document
    from apps.capabilities.documents.retrieval import by_meaning, by_words
    from apps.workspace.embeddings.built_in import BuiltInEmbedder

    searched, embedder = indexes(), BuiltInEmbedder()
    for document in searched:
        document.vectors.begin(embedder.model)
        await embed_document(document, embedder, NO_COST)
    found, asked = dict.fromkeys(WAYS, 0), document_questions()
    for one in asked:
        vector = (await embedder.embed([one.question])).vectors[0]
        words, meaning = by_words(searched, one.question), by_meaning(searched, vector)
        rankings = {"words": [words], "meaning": [meaning], "both": [words, meaning]}
        for way, ranking in rankings.items():
            found[way] += has_source(searched, first_places(ranking), one)
    return {way: count / len(asked) for way, count in found.items()}


def has_source(
    searched: Sequence[DocumentIndex], places: Sequence[ChunkId], asked: DocumentQuestion
) -> bool:
    return any(
        searched[place.document].name == asked.document
        and asked.source in searched[place.document].chunks[place.chunk].text
        for place in places
    )


def table(rows: dict[str, dict[str, float]]) -> str:
    lines = [f"| recall@{FIRST} | {' | '.join(WAYS)} |", "|---|---|---|---|"]
    for name, found in rows.items():
        lines.append(f"| {name} | {' | '.join(f'{found[way]:.2f}' for way in WAYS)} |")
    return "\n".join(lines)


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "quickapps_site.settings")
    import django

    django.setup()
    measures: dict[str, Callable[[], Any]] = {
        f"{len(facts())} facts": fact_recall,
        f"{len(document_questions())} questions about {len(documents())} documents": document_recall,
    }
    print(table({name: asyncio.run(measure()) for name, measure in measures.items()}))


if __name__ == "__main__":
    main()
