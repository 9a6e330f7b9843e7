"""Reads PowerPoint presentations as Markdown: the text and tables of each slide, and the speaker's
notes.
"""

from collections.abc import Iterator
from io import BytesIO
from typing import Any

from lxml import etree

from apps.documents.archive import Archive, resolve_name
from apps.documents.paged_text import PagePart, requested_pages

P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
LINK = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
PRESENTATION = "ppt/presentation.xml"
TITLES = frozenset({"title", "ctrTitle"})
NO_NOTES = frozenset({"sldNum", "dt", "hdr", "ftr", "sldImg"})
"""The types of placeholders on a notes page that do not contain the speaker's notes."""


def parts(content: BytesIO, order: dict[str, Any]) -> Iterator[PagePart]:
    """Yield the requested slides of a presentation. Raises `UnreadableDocument` if it has none of
    these slides.
    """
    archive = Archive(content)
    links = targets(archive, PRESENTATION)
    wanted = archive.xml(PRESENTATION).iter(f"{P}sldId")
    slides = [links[slide.get(LINK, "")][1] for slide in wanted]
    for number in requested_pages(order, len(slides), "slide"):
        name = slides[number - 1]
        title, text = slide_text(archive.xml(name))
        for kind, target in targets(archive, name).values():
            if kind == "notesSlide" and (notes := notes_text(archive.xml(target))):
                text = "\n\n".join(filter(None, (text, f"Notes: {notes}")))
        yield PagePart(text, f"[slide {number} of {len(slides)}]", number, title)


def targets(archive: Archive, name: str) -> dict[str, tuple[str, str]]:
    """Return the archive parts to which the part `name` refers: a map of relationship IDs to the
    types and names of these parts.
    """
    folder, _, file = name.rpartition("/")
    links = f"{folder}/_rels/{file}.rels"
    if links not in archive:
        return {}
    return {
        link.get("Id", ""): (
            link.get("Type", "").rpartition("/")[2],
            resolve_name(name, link.get("Target", "")),
        )
        for link in archive.xml(links)
        if link.get("TargetMode") != "External"
    }


def slide_text(slide: etree._Element) -> tuple[str, str]:
    """Return the title of a slide, and its whole text as Markdown."""
    title, blocks = "", []
    for block in slide.iter(f"{P}txBody", f"{A}tbl"):
        text = table(block) if block.tag == f"{A}tbl" else paragraphs(block)
        if text and not title and placeholder(block) in TITLES:
            title = " ".join(text.split())
            text = f"# {title}"
        blocks.append(text)
    return title, "\n\n".join(filter(None, blocks))


def notes_text(notes: etree._Element) -> str:
    bodies = (b for b in notes.iter(f"{P}txBody") if placeholder(b) not in NO_NOTES)
    return "\n".join(filter(None, map(paragraphs, bodies)))


def placeholder(body: etree._Element) -> str:
    """Return the type of the placeholder that contains a text, or "" if an ordinary shape contains
    it.
    """
    shape = body.getparent()
    found = shape.find(f"{P}nvSpPr/{P}nvPr/{P}ph") if shape is not None else None
    return found.get("type", "body") if found is not None else ""


def paragraphs(body: etree._Element) -> str:
    return "\n".join(filter(None, map(line, body.iter(f"{A}p"))))


def line(paragraph: etree._Element) -> str:
    pieces = (
        "\n" if piece.tag == f"{A}br" else piece.text or ""
        for piece in paragraph.iter(f"{A}t", f"{A}br")
    )
    return "".join(pieces).strip()


def table(element: etree._Element) -> str:
    """Return a PowerPoint table as text with one line per row."""
    rows = (
        [" ".join(paragraphs(cell).split()) for cell in row.iter(f"{A}tc")]
        for row in element.iter(f"{A}tr")
    )
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)
