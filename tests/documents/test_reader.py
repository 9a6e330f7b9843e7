"""The text of documents, each read in a separate process."""

import pytest

from apps.documents.paged_text import UnreadableDocument
from apps.documents.reader import html_to_markdown, read_file_text
from tests.contract import proves
from tests.documents.samples import (
    RTF,
    docx,
    epub,
    locked_office,
    pdf,
    pptx,
    protected_pdf,
    workbook,
    xlsx,
    zipped,
)

PAGE = b"""<html><head><title>Prices</title><style>b{}</style></head><body>
<nav>Home | About</nav><h1>Tea</h1><p>Green <b>tea</b>: <a href="/t?id=1">2.50</a></p>
<script>steal()</script><table><tr><th>City</th></tr><tr><td>Riga</td></tr></table></body></html>"""


@proves("14.5")
async def test_the_pages_of_a_pdf_are_told_apart_and_a_scan_is_called_one():
    text = await read_file_text(pdf("First page", "", "Third page"))

    assert text == (
        "[page 1 of 3]\nFirst page\n[page 2: no text; it may be a scan]\n[page 3 of 3]\nThird page"
    )


async def test_pages_that_nobody_wants_are_not_looked_into():
    many = pdf(*(f"Page number {n}" for n in range(1, 400)))

    assert await read_file_text(many, pages=(398, 500)) == (
        "[page 398 of 399]\nPage number 398\n[page 399 of 399]\nPage number 399"
    )
    with pytest.raises(UnreadableDocument, match="it has 399 pages"):
        await read_file_text(many, pages=(400, 500))


async def test_a_word_file_reads_as_markdown():
    assert await read_file_text(docx(), name="plan.docx") == (
        "# Travel plan\n# Day 1\nWe go to Riga.\n- a coat\n"
        "| City | Nights |\n| Riga | 3 |\nThe end."
    )


async def test_the_sheets_of_a_workbook_are_told_apart():
    book = xlsx()

    assert await read_file_text(book) == (
        "[sheet Prices]\nItem\tPrice\tSince\nTea, green\t2.5\t2026-03-24 00:00:00\nCake\t3\n"
        "[sheet Staff]\nAnn\tTRUE"
    )
    assert await read_file_text(book, pages=(2, 3)) == "[sheet Staff]\nAnn\tTRUE"


async def test_the_slides_of_a_presentation_come_in_the_order_in_which_they_are_shown():
    show = pptx()

    assert await read_file_text(show, name="plan.pptx") == (
        "[slide 1 of 2]\n# Travel plan\n\nWe go\nto Riga\n\nNotes: Say hello.\n"
        "[slide 2 of 2]\n| City | Nights |\n| Riga | 3 |\n\nThe end\nof it"
    )
    assert (await read_file_text(show, name="plan.pptx", pages=(2, 3))).startswith("[slide 2 of 2]")


async def test_the_chapters_of_a_book_come_in_the_order_in_which_they_are_read():
    assert await read_file_text(epub(locked="OPS/fonts/a.ttf")) == (
        "[chapter 1 of 2]\n# Leaving\n\nWe **leave**.\n[chapter 2 of 2]\nWe arrive & rest."
    )


async def test_rich_text_reads_as_its_text():
    assert await read_file_text(RTF, name="a.rtf") == "Café € 5\n\u0420\u0438\u0433\u0430"


async def test_of_a_page_of_the_web_what_a_person_reads_remains():
    assert await read_file_text(PAGE, media_type="text/html; charset=utf-8") == (
        "# Prices\n\n# Tea\n\nGreen **tea**: [2.50](/t?id=1)\n\n| City |\n| --- |\n| Riga |"
    )


async def test_links_of_a_page_are_told_in_full():
    page = '<a href="/x">a</a> <a href="javascript:x()">b</a> <img src="data:image/png;base64,A" alt="c">'

    assert await html_to_markdown(page, "https://shop.example/tea/") == (
        "[a](https://shop.example/x) b ![c]()"
    )


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"a,b\r\n1,2\r\n", "a,b\r\n1,2\r\n"),
        (b"\xef\xbb\xbfa", "a"),
        ("a,\u00fc".encode("utf-16"), "a,\u00fc"),
        ("Caf\u00e9 \u20ac".encode("cp1252"), "Caf\u00e9 \u20ac"),
        ("BMW f\u00e4hrt".encode("cp1252"), "BMW f\u00e4hrt"),
        (b"", ""),
        (b"<html>", "<html>"),
    ],
)
async def test_text_is_itself(content, text):
    assert await read_file_text(content, name="a.csv", media_type="text/csv") == text


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (protected_pdf("letmein"), "it is protected by a password."),
        (pdf("Cut off")[:150], "it is damaged or not a valid PDF file"),
        (b"%PDF-1.7\n%%EOF", "it is damaged or not a valid PDF file"),
        (docx()[:2000], "it is damaged or not a valid Word file"),
        (xlsx()[:900], "it is damaged or not a valid Excel file"),
        (
            b"PK\x03\x04" + bytes(60),
            "it is an archive; the only supported archives are .docx, .xlsx, .pptx and .epub.",
        ),
        (pptx()[:900], "it is damaged or not a valid PowerPoint file"),
        (zipped({"mimetype": "application/epub+zip"}), "it is damaged or not a valid EPUB file"),
        (epub(locked="OPS/one.xhtml"), "it is copy-protected"),
        (locked_office(), "it is protected by a password."),
        (b"\xff\xfb\x90\x64\x01\x02" * 40, "it is neither text nor a supported"),
        (b"GIF89a\x01\x01\x80\xff\xff\xff\x01\x01;", "it is neither text nor a supported"),
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
            "it is in an old Word, Excel or PowerPoint format",
        ),
        (b"\x89PNG\r\n\x1a\n\0\0\0", "it is neither text nor a supported"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
async def test_what_cannot_be_read_says_why(content, problem):
    name = "a.docx" if content[:30] == docx()[:30] else "a.xlsx" if b"xl/" in content else "a"

    with pytest.raises(UnreadableDocument) as refused:
        await read_file_text(content, name="a.pptx" if b"ppt/" in content else name)

    assert str(refused.value).startswith(problem)


async def test_what_is_locked_with_an_empty_password_is_read():
    assert await read_file_text(protected_pdf("")) == "[page 1 of 1]\nSecret"


async def test_of_a_page_that_is_too_long_the_beginning_is_read_and_it_says_so():
    text = await html_to_markdown(f"<p>{'word ' * 110_000}</p>")

    assert text.startswith("word word")
    assert text.endswith("wo\n\n[cut: the rest is left out, because the page is too long]")
    assert 499_000 < len(text) < 500_100


@pytest.mark.parametrize(
    ("cells", "text"),
    [
        ({"A1": "near", "XFD1048576": "far"}, "near\n[XFD1048576] far"),
        ({"B2": "b", "D2": "d", "XFD2": "far", "A3": 3}, "\tb\t\td\t[XFD2] far\n3"),
        ({"A1": "a", "CV1": "x", "A1048576": "end"}, f"a{chr(9) * 99}x\nend"),
    ],
)
async def test_a_cell_far_away_fills_neither_the_text_nor_the_time(cells, text):
    assert await read_file_text(workbook(cells)) == f"[sheet Sheet]\n{text}"
