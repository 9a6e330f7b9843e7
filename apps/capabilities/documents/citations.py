"""Numbers the sources of an answer for the model, and finds the answer's references to them."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from textwrap import wrap

from apps.agent.messages import Attachment
from apps.capabilities.documents.retrieval import CitedDocument, Passage, page_label
from apps.capabilities.registry import Opening
from apps.capabilities.wrappers.value_texts import one_line
from apps.documents.bm25 import terms
from apps.documents.chunks import sentences

REFERENCE_TYPE = "text/plain"
"""The type of the attachment that describes a source, next to the answer and in the stage of the
call.

- `title`: `[1] report.pdf, page 3`; the answer has the same number in brackets.
- `data`: the cited sentence, on one line of at most `QUOTE_CHARACTERS`.
- `reference_url`: the document's path (files/…) or URL, with `#page=3` for a page of a PDF; missing
for a document without a URL.
- `reference_type`: the media type of the document.
"""
QUOTE_CHARACTERS = 300
ANSWER_CHARACTERS = 100_000
"""Source numbers are not recognized after this many characters of an answer."""
REQUEST_WEIGHT = 0.25
"""The weight of the request's words when the best sentence is chosen as a quote. Words in the
answer's statement have a weight of 1.
"""

STATE = "document_sources"
"""The state key that stores the conversation's highest source number. Later requests continue from
it.
"""
MOST_SOURCES = 9_000
"""Numbering restarts at 1 after this number, because references have at most four digits."""

_number = re.compile(r"\[(\d{1,4})\]")


@dataclass(frozen=True, slots=True)
class CitedSource:
    """A passage with the number by which an answer refers to it."""

    number: int
    passage: Passage

    @property
    def excerpt(self) -> str:
        """Return the passage as an XML element for the model, escaped so that its text cannot close
        the element.
        """
        document, chunk, chunks, _ = self.passage
        place = escape(page_label(document, chunk.page))
        above = " > ".join(heading.strip() for heading in chunks[0].headings)
        text = "\n".join(filter(None, (above, *(one.text for one in chunks))))
        return (
            f'<excerpt number="{self.number}" source="{place}">\n'
            f"{escape(text, quote=False)}\n</excerpt>"
        )


@dataclass(frozen=True, slots=True)
class Citation:
    """A sentence from a source that supports an answer."""

    number: int
    document: CitedDocument
    page: int
    sentence: str

    @property
    def title(self) -> str:
        return f"[{self.number}] {page_label(self.document, self.page)}"

    @property
    def line(self) -> str:
        return f"{self.title}: “{self.sentence}”"

    @property
    def attachment(self) -> Attachment:
        document = self.document
        anchor = f"#page={self.page}" if document.noun == "page" else ""
        return Attachment(
            REFERENCE_TYPE,
            self.title,
            data=self.sentence,
            reference_type=document.media_type or None,
            reference_url=f"{document.address}{anchor}" if document.address else None,
        )


def number_passages(opening: Opening, passages: Sequence[Passage]) -> list[CitedSource]:
    """Return the passages with numbers that are unique in the conversation."""
    last = last_number(opening)
    opening.conversation.saved[STATE] = last + len(passages)
    return [CitedSource(number, passage) for number, passage in enumerate(passages, last + 1)]


def last_number(opening: Opening) -> int:
    last = {**opening.conversation.state, **opening.conversation.saved}.get(STATE)
    # A client may have changed the state.
    return last if isinstance(last, int) and 0 <= last < MOST_SOURCES else 0


def citations(sources: Sequence[CitedSource], answer: str, request: str) -> list[Citation]:
    """Cite the sources to which the answer refers, or all sources if it refers to none."""
    answer = answer[:ANSWER_CHARACTERS]
    named = {int(number) for number in _number.findall(answer)}
    chosen = [source for source in sources if source.number in named] or sources
    return [cite(source, statements(answer, source.number), request) for source in chosen]


def statements(answer: str, number: int) -> str:
    """Return the sentences that refer to source `number`, without reference numbers."""
    mark = f"[{number}]"
    found = (sentence for sentence in sentences(marks_inside(answer)) if mark in sentence)
    return _number.sub("", " ".join(found)).strip()


def marks_inside(answer: str) -> str:
    """Move reference numbers before the preceding full stop, into the sentence."""
    return re.sub(r"([.!?])((?:\s?\[\d{1,4}\])+)", r"\2\1", answer)


def cite(source: CitedSource, statement: str, request: str) -> Citation:
    """Cite the sentence from the source that shares the most words with the statement.

    Words in the request count too, but with less weight.
    """
    document, chunk, chunks, _ = source.passage
    ordered = [chunk, *(one for one in chunks if one is not chunk)]
    options = [
        (one.page, piece)
        for one in ordered
        for sentence in sentences(one.text)
        for piece in wrap(sentence, QUOTE_CHARACTERS)
    ]
    options = [one for one in options if not one[1].startswith("#")] or options
    stated, asked = frozenset(terms(statement)), frozenset(terms(request))
    page, sentence = max(
        options or [(chunk.page, chunk.text)],
        key=lambda one: likeness(one[1], stated) + REQUEST_WEIGHT * likeness(one[1], asked),
    )
    return Citation(source.number, document, page, one_line(sentence, QUOTE_CHARACTERS))


def likeness(sentence: str, wanted: frozenset[str]) -> float:
    """Score how many wanted words the sentence contains, relative to its length."""
    words = frozenset(terms(sentence))
    return len(words & wanted) / math.sqrt(len(words) or 1)
