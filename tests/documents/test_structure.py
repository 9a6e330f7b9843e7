"""Documents are read by pages, in every format."""

import pytest

from apps.documents.structure import Page, PagedText, read_pages
from tests.contract import proves
from tests.documents.samples import RTF, docx, epub, pdf, pptx, xlsx

CASES = {
    "txt": (b"One.\r\n\r\nTwo.\n", "a.txt", PagedText((Page("One.\n\nTwo."),))),
    "md": (b"# A\n\n- b\n", "a.md", PagedText((Page("# A\n\n- b"),))),
    "csv": (
        'name;"a|b"\n"new\nline";2\n\n;\n'.encode("utf-16"),
        "a.csv",
        PagedText((Page("| name | a\\|b |\n| --- | --- |\n| new line | 2 |"),)),
    ),
    "html": (
        b"<title>T</title><script>x()</script><h1>T</h1><p>b <i>c</i></p>",
        "a.html",
        PagedText((Page("# T\n\nb *c*"),)),
    ),
    "pdf": (
        pdf("First", "", "Third"),
        "a.pdf",
        PagedText((Page("First", 1), Page("", 2), Page("Third", 3)), "page", images={2: ""}),
    ),
    "docx": (
        docx(),
        "a.docx",
        PagedText(
            (
                Page(
                    "# Travel plan\n# Day 1\nWe go to Riga.\n- a coat\n"
                    "| City | Nights |\n| Riga | 3 |\nThe end."
                ),
            )
        ),
    ),
    "xlsx": (
        xlsx(),
        "a.xlsx",
        PagedText(
            (
                Page(
                    "# Prices\n\n| Item | Price | Since |\n| --- | --- | --- |\n"
                    "| Tea, green | 2.5 | 2026-03-24 00:00:00 |\n| Cake | 3 |",
                    1,
                    "Prices",
                ),
                Page("# Staff\n\n| Ann | TRUE |\n| --- | --- |", 2, "Staff"),
            ),
            "sheet",
        ),
    ),
    "pptx": (
        pptx(),
        "a.pptx",
        PagedText(
            (
                Page("# Travel plan\n\nWe go\nto Riga\n\nNotes: Say hello.", 1, "Travel plan"),
                Page("| City | Nights |\n| Riga | 3 |\n\nThe end\nof it", 2),
            ),
            "slide",
        ),
    ),
    "epub": (
        epub(),
        "a.epub",
        PagedText(
            (Page("# Leaving\n\nWe **leave**.", 1, "Leaving"), Page("We arrive & rest.", 2)),
            "chapter",
        ),
    ),
    "rtf": (RTF, "a.rtf", PagedText((Page("Café € 5\n\u0420\u0438\u0433\u0430"),))),
}


@proves("G-51")
@pytest.mark.parametrize("kind", CASES)
async def test_a_document_is_read_by_its_pages(kind):
    content, name, expected = CASES[kind]

    assert await read_pages(content, name=name) == expected


async def test_pages_are_joined_by_a_blank_line():
    assert (await read_pages(pdf("First", "", "Third"))).text == "First\n\nThird"


async def test_pages_that_are_images_are_named():
    found = await read_pages(pdf("First", "", ""))

    assert found == PagedText(
        (Page("First", 1), Page("", 2), Page("", 3)), "page", "", {2: "", 3: ""}
    )


async def test_a_table_that_is_none_stays_text():
    quote = b'a,"' + b"x" * 200_000

    assert (await read_pages(quote, name="a.csv")).text == quote.decode()
