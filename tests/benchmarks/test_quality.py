"""The texts and questions for the quality of searches."""

from __future__ import annotations

from collections import Counter

from apps.capabilities.documents.retrieval import ChunkId
from benchmarks.quality import document_questions, documents, facts, has_source, indexes


def test_there_are_sixty_facts_and_each_has_a_question_of_its_own():
    found = facts()
    assert len({one.fact for one in found}) == len({one.question for one in found}) == 60


def test_each_document_has_ten_questions_whose_answer_stands_in_it_once():
    found, texts = document_questions(), documents()
    assert Counter(one.document for one in found) == dict.fromkeys(texts, 10)
    assert len(texts) == 5
    assert len({one.question for one in found}) == 50
    assert {one.source: texts[one.document].count(one.source) for one in found} == {
        one.source: 1 for one in found
    }


def test_no_answer_is_divided_between_two_chunks():
    searched = indexes()
    places = [
        ChunkId(number, chunk)
        for number, document in enumerate(searched)
        for chunk in range(len(document.chunks))
    ]
    assert [
        one.source for one in document_questions() if not has_source(searched, places, one)
    ] == []
