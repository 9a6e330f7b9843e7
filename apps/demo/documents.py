"""Finds the documents in a conversation, and answers requests using excerpts from them."""

import re
from collections.abc import Sequence
from html import unescape

from apps.agent.messages import ModelMessage
from apps.demo.calls import STOP_WORDS
from apps.demo.results import decode_json

LIST_FILES = "internal_attachments_available_context"

_file = re.compile(
    r"<type>(?P<type>[^<]*)</type>\s*<url>(?P<url>[^<]*)</url>", re.IGNORECASE | re.DOTALL
)
_documents = re.compile(r"(?i:\b(?:documents?|files?|pdf|attach\w*|pages?)\b)")
MOST_CHARACTERS = 60_000
MOST_QUOTED = 3
INTRODUCTION = "I only search for words. These sentences share the most words with the request:"
_excerpt = re.compile(r'<excerpt number="(\d{1,9})"[^>\n]*>\n(.*?)\n</excerpt>', re.DOTALL)
_sentence = re.compile(r"[^\s.!?][^.!?\n]*[.!?]?")
_line_end = re.compile(r"(?<!\n)\n(?!\n)")
_word = re.compile(r"[^\W_]{2,}")


def documents_of(messages: Sequence[ModelMessage]) -> list[str]:
    """Return the documents attached to the newest question. If it has none but mentions documents,
    return those attached to an earlier question.
    """
    newest, *earlier = [m.text for m in reversed(messages) if m.role == "user"] or [""]
    if found := listed_files(newest):
        return found
    return next(filter(None, map(listed_files, earlier)), []) if _documents.search(newest) else []


def operator_documents(messages: Sequence[ModelMessage]) -> list[str]:
    """Return the documents in the newest listing of the operator's files."""
    ids = {call.id for m in messages for call in m.tool_calls if call.name == LIST_FILES}
    found = [m.text for m in messages if m.role == "tool" and m.tool_call_id in ids]
    listing = decode_json(found[-1]) if found else None
    entries = listing.get("entries") if isinstance(listing, dict) else None
    return [
        str(one["url"])
        for one in (entries if isinstance(entries, list) else ())
        if isinstance(one, dict)
        and one.get("status") != "removed"
        and is_document(str(one.get("type")))
        and not str(one.get("url", "/")).endswith("/")
    ]


def is_document(media_type: str) -> bool:
    return not media_type.startswith(("image/", "audio/", "video/"))


def listed_files(text: str) -> list[str]:
    return [unescape(found["url"]) for found in _file.finditer(text) if is_document(found["type"])]


def quotations(message: str) -> str:
    """Return the sentences in the message's excerpts that best match its request, each with the
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
