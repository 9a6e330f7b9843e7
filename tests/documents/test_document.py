"""A long document is read only as far as needed."""

import asyncio
from typing import Any

import pytest

from apps.documents.document import FIRST_PAGES, Document, lines_of
from apps.documents.paged_text import PagePart, UnreadableDocument
from apps.documents.process import Bounds, Extract, Order, extract
from apps.documents.reader import read_file_text
from tests.contract import proves
from tests.documents.samples import docx, pdf, xlsx

MANY = pdf(*(f"Page number {n}" if n % 10 else "" for n in range(1, 60)))


class Reader:
    """Reads a PDF of that many pages with one line each, and fails on some of them."""

    def __init__(self, total: int, *, stuck: frozenset[int] = frozenset(), most: int = 10**9):
        self.total = total
        self.stuck = stuck
        self.most = most
        self.asked: list[range] = []

    async def __call__(self, content: bytes, order: Order, bounds: Bounds) -> Extract:
        assert order.pages is not None
        first, after = order.pages
        wanted = range(first, min(after, self.total + 1))
        self.asked.append(wanted)
        if self.stuck & set(wanted):
            raise UnreadableDocument("reading it took too much.")
        read = wanted[: self.most]
        cut = "time" if len(read) < len(wanted) else ""
        return Extract(tuple(PagePart(f"page {n}") for n in read), self.total, cut)


def document(reader: Any = extract, content: bytes = MANY, **bounds: Any) -> Document:
    return Document(content, bounds=Bounds(**bounds), extract=reader)


async def test_only_the_pages_of_the_lines_that_are_wanted_are_read():
    found = document()

    await found.until(3)

    assert (found.pages, found.total, found.is_complete) == (FIRST_PAGES, 59, False)
    assert found.lines[:4] == ["[page 1 of 59]", "Page number 1", "[page 2 of 59]", "Page number 2"]
    assert "[page 10: no text; it may be a scan]" in found.lines


async def test_in_the_end_it_is_what_is_read_at_once():
    whole = lines_of(await read_file_text(MANY))
    one, all_at_once = document(), document()

    for end in (1, 40, 41, 90, 1_000):
        await one.until(end)
    await all_at_once.until()

    assert one.lines == all_at_once.lines == whole
    assert one.is_complete
    assert all_at_once.is_complete
    assert one.size == one.characters  # what was read is not stored twice
    assert one.characters == len("\n".join(whole)) + 1


@proves("14.5")
async def test_no_page_is_read_twice_and_many_at_a_time_when_many_are_wanted():
    reader = Reader(500)
    found = document(reader)

    for end in (1, 5, 17, 400):
        await found.until(end)

    assert reader.asked == [range(1, 17), range(17, 49), range(49, 113), range(113, 241),
                            range(241, 369), range(369, 497)]  # fmt: skip
    await found.until()
    assert reader.asked[-1] == range(497, 501)
    assert found.lines == [f"page {n}" for n in range(1, 501)]


async def test_who_wants_all_gets_it_from_one_process():
    reader = Reader(500)

    await document(reader).until()

    assert reader.asked == [range(1, 501)]


async def test_what_was_not_read_in_time_is_read_by_whoever_asks_again():
    reader = Reader(30, most=7)
    found = document(reader, seconds=1.0)  # more processes would have less memory than they need

    pages = []
    while not found.is_complete:
        await found.until()
        pages.append(found.pages)

    assert pages == [7, 14, 21, 28, 30]
    assert found.lines == [f"page {n}" for n in range(1, 31)]


async def test_a_page_that_takes_all_the_time_is_left_out_and_the_others_are_read():
    reader = Reader(20, stuck=frozenset({18}))
    found = document(reader, seconds=1.0)

    await found.until(1)
    while not found.is_complete:
        await found.until()

    assert found.lines == [
        *(f"page {n}" for n in range(1, 18)),
        "[page 18: could not be read]",
        "page 19",
        "page 20",
    ]


async def test_a_document_of_which_nothing_can_be_read_is_unreadable_each_time():
    found = document(content=b"%PDF-1.4\nnothing")

    for _ in range(2):
        with pytest.raises(UnreadableDocument):
            await found.until(5)
    assert found.lines == []


async def test_a_text_that_is_too_long_ends_with_a_notice():
    found = document(characters=40)

    await found.until()

    assert found.is_complete
    assert found.lines[-1] == "[cut: the rest is left out, because the text is too long]"
    assert found.lines[:2] == ["[page 1 of 59]", "Page number 1"]


async def test_two_at_once_read_it_once():
    reader = Reader(500)
    found = document(reader)

    await asyncio.gather(found.until(10), found.until(12))

    assert reader.asked == [range(1, 17)]


@pytest.mark.parametrize("content", [b"one\r\ntwo\rthree\n", docx(), xlsx()])
async def test_what_has_no_pages_is_read_as_a_whole(content):
    found = Document(content, "notes")

    await found.until(1)

    assert found.lines == lines_of(await read_file_text(content, name="notes"))
    assert found.is_complete
