"""PDF: pages as pictures, for models that can see."""

from base64 import b64encode
from collections.abc import Iterator
from io import BytesIO
from typing import Any

from pypdfium2 import PdfDocument, PdfImage, PdfPage
from pypdfium2.raw import FPDF_PAGEOBJ_IMAGE

from apps.documents.pages import Part, Unreadable, wanted_pages
from apps.documents.png import png

LONGER_SIDE = 1_600
"""Pixels, 137 dpi of an A4 page: models scale what is larger down to about as much. In shades of
grey a page has 3.4 million characters at most, below what the process may return."""
LARGE_IMAGE = 20_000_000
"""Pixels, half an A4 page at 600 dpi: the renderer leaves out images for which it has no memory."""
LARGEST_SCALE = 3.0
"""Pixels of a point, 216 dpi: a page that is smaller than a letter is not blown up further."""


def parts(content: BytesIO, order: dict[str, Any]) -> Iterator[Part]:
    """The text of a part is a PNG in base64, "" for a page of one colour. Raises `Unreadable`."""
    document = PdfDocument(content.getvalue())
    for number in wanted_pages(order, len(document), "page"):
        yield Part(picture(document[number - 1]), "", number)


def picture(page: PdfPage) -> str:
    """Raises `Unreadable`."""
    scale = min(LONGER_SIDE / max(*page.get_size(), 1.0), LARGEST_SCALE)
    bitmap = page.render(scale=scale, grayscale=True)
    pixels, width, stride = bytes(bitmap.buffer), bitmap.width, bitmap.stride
    rows = [pixels[start : start + width] for start in range(0, bitmap.height * stride, stride)]
    if all(row.count(pixels[0]) == width for row in rows):
        if any(is_large(one) for one in page.get_objects([FPDF_PAGEOBJ_IMAGE])):
            raise Unreadable("the image on it is too large.")
        return ""
    return b64encode(png(width, bitmap.height, rows)).decode()


def is_large(image: PdfImage) -> bool:
    width, height = image.get_px_size()
    return bool(width * height > LARGE_IMAGE)
