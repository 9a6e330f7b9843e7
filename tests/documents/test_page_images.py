"""Images of PDF pages."""

import struct
import zlib
from base64 import b64decode

import pytest

from apps.documents.page_images import LONGER_SIDE
from apps.documents.paged_text import PagePart, UnreadableDocument
from apps.documents.png import SIGNATURE
from apps.documents.process import Bounds, Order, extract
from tests.documents.samples import assembled, pdf, protected_pdf, stream


async def drawn(content: bytes, number: int = 1, bounds: Bounds | None = None) -> PagePart:
    order = Order("page_images", "PDF", (number, number + 1))
    (part,) = (await extract(content, order, bounds or Bounds())).parts
    return part


def greys(picture: str) -> tuple[int, int, list[bytes]]:
    """Return width, height, and the rows of a grey picture. Raises an error for other pictures."""
    content = b64decode(picture)
    assert content.startswith(SIGNATURE)
    width, height, *kind = struct.unpack(">IIBBBBB", content[16:29])
    assert kind == [8, 0, 0, 0, 0]
    size = struct.unpack(">I", content[33:37])[0]
    pixels = zlib.decompress(content[41 : 41 + size])
    return width, height, [pixels[n + 1 : n + 1 + width] for n in range(0, len(pixels), width + 1)]


def page_of(width: str, height: str, content: bytes) -> bytes:
    page = f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width} {height}] /Contents 4 0 R >>"
    pages = b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
    return assembled([b"<< /Type /Catalog /Pages 2 0 R >>", pages, page.encode(), stream(content)])


async def test_a_page_is_a_picture_in_shades_of_grey():
    part = await drawn(pdf("Text", ""), 2)

    width, height, rows = greys(part.text)
    assert (part.page, width, height) == (2, 1131, LONGER_SIDE)
    assert {shade for row in rows for shade in row} == {128, 255}


async def test_an_empty_page_is_no_picture():
    assert (await drawn(page_of("595", "842", b""))).text == ""


@pytest.mark.parametrize(
    ("width", "height", "size"),
    [("9", "9", (27, 27)), ("20000", "2", (1600, 1)), ("1", "14400", (1, 1600))],
)
async def test_pages_of_any_size_have_pictures_of_few_pixels(width, height, size):
    half = f"0 0 {float(width) / 2} {height} re 0 0 {width} {float(height) / 2} re f"

    part = await drawn(page_of(width, height, half.encode()))

    assert greys(part.text)[:2] == size


@pytest.mark.parametrize(
    "content",
    [protected_pdf("letmein"), b"%PDF-1.4", pdf("Cut off")[:150]],
    ids=["locked", "no document", "cut off"],
)
async def test_what_is_locked_or_broken_is_no_picture(content):
    with pytest.raises(UnreadableDocument, match="damaged"):
        await drawn(content)


async def test_an_image_that_unpacks_to_gigabytes_is_refused():
    head = "/Type /XObject /Subtype /Image /Width 30000 /Height 30000 /ColorSpace /DeviceRGB /BitsPerComponent 8"
    packed = zlib.compress(zlib.compress(bytes(300_000_000), 1), 9)
    bomb = pdf("").replace(
        stream(
            b"\x80",
            "/Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8",
        ),
        stream(packed, f"{head} /Filter [/FlateDecode /FlateDecode]"),
    )
    tight = Bounds(seconds=5.0, memory=256 * 1024 * 1024)

    with pytest.raises(UnreadableDocument, match="the image on the page is too large"):
        await drawn(bomb, bounds=tight)
