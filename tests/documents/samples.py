"""Small documents: made by the libraries themselves, or written out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from io import BytesIO

from docx import Document
from openpyxl import Workbook
from pypdf import PdfReader, PdfWriter


def pdf(*pages: str) -> bytes:
    """A PDF with a line of text on each page; "" is a page that is an image alone."""
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
