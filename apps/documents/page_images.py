"""Renders the pages of a PDF as images, for vision models."""

from base64 import b64encode
from collections.abc import Iterator
from io import BytesIO
from typing import Any

from pypdfium2 import PdfDocument, PdfImage, PdfPage
from pypdfium2.raw import FPDF_PAGEOBJ_IMAGE

from apps.documents.paged_text import PagePart, UnreadableDocument, requested_pages
from apps.documents.png import png

LONGER_SIDE = 1_600
"""The length of the longer side of a page's image in pixels: 137 dpi for an A4 page.

Models scale larger images down to about this size. In base64, a grayscale image has up to 3.4
million characters, which is below the limit on the process's output.
"""
LARGE_IMAGE = 20_000_000
"""The number of pixels above which an image on a page is large: half an A4 page at 600 dpi. The
renderer omits images that exceed its memory.
"""
LARGEST_SCALE = 3.0
"""The maximum number of pixels per point: 216 dpi. It limits the image size of pages whose longer
side is shorter than 533 points, such as A6 pages.
"""


def parts(content: BytesIO, order: dict[str, Any]) -> Iterator[PagePart]:
    """Yield each requested page as a base64-encoded PNG, or "" if it has only one color. Raises
    `UnreadableDocument` if the PDF cannot be read.
    """
    document = PdfDocument(content.getvalue())
    for number in requested_pages(order, len(document), "page"):
        yield PagePart(picture(document[number - 1]), "", number)


def picture(page: PdfPage) -> str:
    """Return a page as a base64-encoded PNG, or "" if it has only one color. Raises
    `UnreadableDocument` if the page contains an image that is too large to be rendered.
    """
    scale = min(LONGER_SIDE / max(*page.get_size(), 1.0), LARGEST_SCALE)
    bitmap = page.render(scale=scale, grayscale=True)
    pixels, width, stride = bytes(bitmap.buffer), bitmap.width, bitmap.stride
    rows = [pixels[start : start + width] for start in range(0, bitmap.height * stride, stride)]
    if all(row.count(pixels[0]) == width for row in rows):
        if any(is_large(one) for one in page.get_objects([FPDF_PAGEOBJ_IMAGE])):
            raise UnreadableDocument("the image on the page is too large.")
        return ""
    return b64encode(png(width, bitmap.height, rows)).decode()


def is_large(image: PdfImage) -> bool:
    width, height = image.get_px_size()
    return bool(width * height > LARGE_IMAGE)
