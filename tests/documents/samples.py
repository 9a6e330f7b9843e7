"""Small documents, created by the libraries or written by hand."""

import zipfile
from collections.abc import Mapping, Sequence
from datetime import date
from io import BytesIO
from typing import Any

from docx import Document
from openpyxl import Workbook
from pypdf import PdfReader, PdfWriter

DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
SLIDES = "http://schemas.openxmlformats.org/presentationml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
LINKS = "http://schemas.openxmlformats.org/package/2006/relationships"


def pdf(*pages: str) -> bytes:
    """Return a PDF with a line of text on each page; "" is a page with only an image."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b""]
    kids = []
    for text in pages:
        number = len(objects) + 1
        kids.append(f"{number} 0 R")
        content = (
            f"BT /F1 18 Tf 72 700 Td ({text}) Tj ET" if text else "q 200 0 0 200 72 500 cm /I Do Q"
        )
        resources = (
            "/Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >>"
            if text
            else f"/XObject << /I {number + 2} 0 R >>"
        )
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {number + 1} 0 R "
            f"/Resources << {resources} >> >>".encode()
        )
        objects.append(stream(content.encode()))
        if not text:
            image = "/Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8"
            objects.append(stream(b"\x80", image))
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>".encode()
    return assembled(objects)


def stream(content: bytes, entries: str = "") -> bytes:
    return f"<< {entries} /Length {len(content)} >>\nstream\n".encode() + content + b"\nendstream"


def assembled(objects: Sequence[bytes]) -> bytes:
    out, places = b"%PDF-1.4\n", []
    for number, item in enumerate(objects, start=1):
        places.append(len(out))
        out += f"{number} 0 obj\n".encode() + item + b"\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    head = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    tail = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF\n"
    return out + head.encode() + tail.encode()


def protected_pdf(password: str) -> bytes:
    writer = PdfWriter(PdfReader(BytesIO(pdf("Secret"))))
    writer.encrypt(password, "owner", algorithm="RC4-128")
    out = BytesIO()
    writer.write(out)
    return out.getvalue()


def docx() -> bytes:
    document = Document()
    document.add_heading("Travel plan", 0)
    document.add_heading("Day 1", 1)
    document.add_paragraph("We go to Riga.")
    document.add_paragraph("a coat", style="List Bullet")
    table = document.add_table(rows=2, cols=2)
    for row, texts in zip(table.rows, (("City", "Nights"), ("Riga", "3")), strict=True):
        for cell, text in zip(row.cells, texts, strict=True):
            cell.text = text
    document.add_paragraph("The end.")
    out = BytesIO()
    document.save(out)
    return out.getvalue()


def zipped(parts: Mapping[str, str]) -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return out.getvalue()


def slide(*shapes: str) -> str:
    return (
        f'<p:sld xmlns:p="{SLIDES}" xmlns:a="{DRAWING}"><p:cSld><p:spTree>{"".join(shapes)}'
        "</p:spTree></p:cSld></p:sld>"
    )


def shape(*paragraphs: str, kind: str = "body") -> str:
    """Return a text box. In a paragraph, | is a line break."""
    lines = "".join(
        f"<a:p>{'<a:br/>'.join(f'<a:r><a:t>{run}</a:t></a:r>' for run in text.split('|'))}</a:p>"
        for text in paragraphs
    )
    place = f'<p:nvSpPr><p:nvPr><p:ph type="{kind}"/></p:nvPr></p:nvSpPr>'
    return f"<p:sp>{place}<p:txBody>{lines}</p:txBody></p:sp>"


def slide_table(*rows: Sequence[str]) -> str:
    cell = "<a:tc><a:txBody><a:p><a:r><a:t>{}</a:t></a:r></a:p></a:txBody></a:tc>"
    lines = "".join(f"<a:tr>{''.join(map(cell.format, row))}</a:tr>" for row in rows)
    return f"<p:graphicFrame><a:graphic><a:tbl>{lines}</a:tbl></a:graphic></p:graphicFrame>"


def links(**targets: str) -> str:
    """Return relationships: id → kind and target."""
    lines = "".join(
        f'<Relationship Id="{id}" Type="{OFFICE}/{target.split()[0]}" Target="{target.split()[1]}"/>'
        for id, target in targets.items()
    )
    return f'<Relationships xmlns="{LINKS}">{lines}</Relationships>'


def pptx() -> bytes:
    """Return two slides in another order than that of their creation, one with notes."""
    order = '<p:sldId id="256" r:id="b"/><p:sldId id="257" r:id="a"/>'
    show = (
        f'<p:presentation xmlns:p="{SLIDES}" xmlns:r="{OFFICE}"><p:sldIdLst>{order}</p:sldIdLst>'
        "</p:presentation>"
    )
    return zipped(
        {
            "[Content_Types].xml": "<Types/>",
            "ppt/presentation.xml": show,
            "ppt/_rels/presentation.xml.rels": links(
                a="slide slides/slide1.xml", b="slide /ppt/slides/slide2.xml"
            ),
            "ppt/slides/slide1.xml": slide(
                slide_table(("City", "Nights"), ("Riga", "3")), shape("The end", "of it")
            ),
            "ppt/slides/slide2.xml": slide(
                shape("Travel|plan", kind="title"), shape("We go", "", "to Riga")
            ),
            "ppt/slides/_rels/slide2.xml.rels": links(n="notesSlide ../notesSlides/notes1.xml"),
            "ppt/notesSlides/notes1.xml": slide(
                shape("Say hello."), shape("1", kind="sldNum")
            ).replace("p:sld", "p:notes"),
        }
    )


def epub(locked: str = "") -> bytes:
    """Return two chapters. `locked` is the path of a part that is marked as encrypted."""
    container = '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>'
    items = (
        '<item id="two" href="two%20.xhtml" media-type="application/xhtml+xml"/>'
        '<item id="one" href="one.xhtml" media-type="application/xhtml+xml"/>'
        '<item id="art" href="art.png" media-type="image/png"/>'
    )
    spine = '<itemref idref="one"/><itemref idref="art"/><itemref idref="two"/>'
    parts = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": container,
        "OPS/book.opf": f"<package><manifest>{items}</manifest><spine>{spine}</spine></package>",
        "OPS/one.xhtml": "<html><body><h1>Leaving</h1><p>We <b>leave</b>.</p></body></html>",
        "OPS/two .xhtml": "<html><body><p>We arrive &amp; rest.</p></body></html>",
    }
    if locked:
        reference = f'<CipherReference URI="{locked}"/>'
        parts["META-INF/encryption.xml"] = f"<encryption><x>{reference}</x></encryption>"
    return zipped(parts)


RTF = (
    rb"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset204 Arial;}}"
    rb"\f0 Caf\'e9 \u8364? 5\par {\f1 \'d0\'e8\'e3\'e0}\par}"
)


def locked_office() -> bytes:
    """Return a file with a password as Word, Excel and PowerPoint write it."""
    return b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504) + "EncryptedPackage".encode("utf-16-le")


def workbook(cells: Mapping[str, Any]) -> bytes:
    """Return a workbook of one sheet with these cells, by their addresses."""
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    for address, value in cells.items():
        sheet[address] = value
    out = BytesIO()
    book.save(out)
    return out.getvalue()


def xlsx() -> bytes:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Prices"
    sheet.append(["Item", "Price", "Since"])
    sheet.append(["Tea, green", 2.5, date(2026, 3, 24)])
    sheet.append([])
    sheet.append(["Cake", 3.0, None])
    book.create_sheet("Staff").append(["Ann", True])
    out = BytesIO()
    book.save(out)
    return out.getvalue()
