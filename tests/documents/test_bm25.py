"""Word search."""

from collections import defaultdict

from apps.documents.bm25 import Bm25Index, word_scores

TEXTS = (
    "The late check-out costs 20 euros.",
    "Breakfast is served until ten, and late risers get coffee.",
    "Dogs are welcome. Dogs stay free, and dogs may run in the garden.",
    "\u65e9\u9910\u5230\u5341\u70b9",
)


def ranked(query: str) -> list[int]:
    scores: defaultdict[int, float] = defaultdict(float)
    for _, text, score in word_scores([Bm25Index(TEXTS)], query):
        scores[text] += score
    return sorted(scores, key=lambda number: -scores[number])


def test_texts_with_more_and_rarer_words_come_first():
    assert ranked("late costs") == [0, 1]


def test_other_forms_of_a_word_are_found():
    assert ranked("WELCOMING") == [2]


def test_scripts_without_spaces_are_found():
    assert ranked("\u65e9\u9910\u51e0\u70b9") == [3]


def test_nothing_is_found_in_nothing():
    assert ranked("submarine") == []
    assert list(word_scores([], "late")) == []
    assert list(word_scores([Bm25Index([]), Bm25Index([""])], "late")) == []


def test_several_indexes_are_searched_as_one():
    whole = [(text, score) for _, text, score in word_scores([Bm25Index(TEXTS)], "late dogs")]
    parts = [Bm25Index(TEXTS[:1]), Bm25Index(TEXTS[1:])]

    found = [(part + text, score) for part, text, score in word_scores(parts, "late dogs")]

    assert found == whole
