"""Answers requests from numbered document excerpts. The answer quotes the sentences that share the
most words with the request.
"""

import re
from html import unescape

from apps.demo.calls import STOP_WORDS

MOST_CHARACTERS = 60_000
MOST_QUOTED = 3
INTRODUCTION = "I only search for words. These sentences share the most words with the request:"

_excerpt = re.compile(r'<excerpt number="(\d{1,9})"[^>\n]*>\n(.*?)\n</excerpt>', re.DOTALL)
_sentence = re.compile(r"[^\s.!?][^.!?\n]*[.!?]?")
_line_end = re.compile(r"(?<!\n)\n(?!\n)")
_word = re.compile(r"[^\W_]{2,}")


def quotations(message: str) -> str:
    """Return the sentences in the message's excerpts that match its request best, each with the
    number of its excerpt. Return "" if there are no excerpts.
    """
    text = message[:MOST_CHARACTERS]
    excerpts = _excerpt.findall(text)
    asked = words_of(text[: text.find("<excerpt ")])
    best = [(*best_sentence(unescape(body), asked), number) for number, body in excerpts]
    found = sorted(best, key=lambda one: -one[0])[:MOST_QUOTED]
    shared = [one for one in found if one[0]] or found[:1]
    lines = [f"- {sentence} [{number}]" for _, sentence, number in shared]
    return "\n".join([INTRODUCTION, "", *lines]) if lines else ""


def best_sentence(text: str, words: set[str]) -> tuple[int, str]:
    """Return the first sentence that shares the most words with the request, and the number of
    these words.
    """
    joined = _line_end.sub(" ", text)  # A sentence may span several lines of a paragraph.
    sentences = [" ".join(found.split()) for found in _sentence.findall(joined)] or [""]
    return max(
        ((len(words_of(one) & words), one) for one in sentences), key=lambda scored: scored[0]
    )


def words_of(text: str) -> set[str]:
    return {word.casefold() for word in _word.findall(text)} - STOP_WORDS
