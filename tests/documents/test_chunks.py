"""Chunks: their boundaries and lengths, and that no text of a page is lost."""

from hypothesis import given
from hypothesis import strategies as st

from apps.documents.chunks import LEAST, MOST, TextChunk, chunks_of, sentences
from apps.documents.structure import Page

WORDS = "The house has seven rooms and a garden. "


def test_a_short_page_is_one_chunk():
    assert chunks_of([Page(" One.\n\nTwo.\n", 3)]) == [TextChunk("One.\n\nTwo.", 3, 1, 11)]


def test_a_page_without_text_has_none():
    assert chunks_of([Page(""), Page(" \n\t", 2)]) == []


def test_a_chunk_ends_where_a_heading_begins_and_knows_those_above_it():
    first, second, third = (f"{WORDS * 8}\n" for _ in range(3))

    found = chunks_of([Page(f"# House\n{first}## Rooms\n{second}## Garden\n{third}")])

    assert [(chunk.text.split("\n")[0], chunk.headings) for chunk in found] == [
        ("# House", ()),
        ("## Rooms", ("House",)),
        ("## Garden", ("House",)),
    ]
    assert found[1].searched.startswith("House\n## Rooms\nThe house")


def test_short_sections_share_a_chunk():
    found = chunks_of([Page("# A\none\n# B\ntwo\n")])

    assert [chunk.text for chunk in found] == ["# A\none\n# B\ntwo"]


def test_every_chunk_of_a_table_knows_its_head():
    rows = "\n".join(f"| item {n} | {n} |" for n in range(200))

    found = chunks_of([Page(f"# Prices\n\n| Item | Price |\n| --- | --- |\n{rows}", 1)])

    assert len(found) > 3
    assert {chunk.headings for chunk in found[1:]} == {("Prices", "| Item | Price |")}
    assert all(chunk.text.startswith("| item") for chunk in found[1:])


def test_a_long_paragraph_is_parted_between_sentences():
    found = chunks_of([Page(WORDS * 50)])

    assert all(chunk.text.endswith("garden.") for chunk in found)
    assert all(len(chunk.text) > MOST / 2 for chunk in found[:-1])


def test_a_word_that_is_longer_than_a_chunk_is_cut():
    assert [len(chunk.text) for chunk in chunks_of([Page("x" * (2 * MOST + 5))])] == [MOST, MOST, 5]


@given(st.text(st.sampled_from("a1 .#|\n\u3002\u4e2d-"), max_size=4 * LEAST), st.integers(1, 8))
def test_nothing_is_lost_and_no_chunk_is_too_long(text, times):
    text *= times
    found = chunks_of([Page(text, 1)])

    assert all(text[chunk.start : chunk.end] == chunk.text for chunk in found)
    assert all(0 < len(chunk.text) <= MOST for chunk in found)
    assert "".join("".join(chunk.text.split()) for chunk in found) == "".join(text.split())


def test_sentences_are_told_apart_across_lines_and_rows_of_tables_by_their_lines():
    text = "It is\nlate. Go!\n\n- home\n| Tea | 2.5 |\n| --- | --- |\n\u4e2d\u3002\u6587\u3002"

    assert sentences(text) == [
        "It is late.", "Go!", "- home", "| Tea | 2.5 |", "\u4e2d\u3002", "\u6587\u3002"
    ]  # fmt: skip
