"""Hostile documents only affect the process that reads them."""

import asyncio
import os
import queue
import signal
import subprocess
import time
import zipfile
import zlib
from functools import cache, partial
from io import BytesIO
from pathlib import Path

import pytest
from docx import Document

from apps.documents import process
from apps.documents.paged_text import UnreadableDocument
from apps.documents.reader import Bounds, html_to_markdown, read_file_text
from apps.documents.turns import FairPool
from tests.documents.samples import assembled, docx, epub, pdf, pptx, stream, xlsx

TIGHT = Bounds(seconds=4.0, memory=256 * 1024 * 1024, characters=100_000)


def with_part(archive: bytes, name: str, content: bytes) -> bytes:
    """Return the archive with one of its parts replaced."""
    out = BytesIO()
    with zipfile.ZipFile(BytesIO(archive)) as old, zipfile.ZipFile(out, "w") as new:
        for item in old.namelist():
            data = content if item == name else old.read(item)
            new.writestr(item, data, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def bomb_docx() -> bytes:
    """Return a few hundred KB that decompress to 150 MB."""
    return with_part(docx(), "word/document.xml", b" " * 150_000_000)


def wide_docx() -> bytes:
    """Return a table of two cells, of which the first spans 400 million columns."""
    document = Document()
    first, second = document.add_table(rows=1, cols=2).rows[0].cells
    first.text, second.text = "wide", "narrow"
    first._tc.grid_span = 400_000_000
    out = BytesIO()
    document.save(out)
    return out.getvalue()


def bomb_xlsx() -> bytes:
    """Return a sheet of very many rows in a few hundred KB."""
    row = b'<row><c t="inlineStr"><is><t>xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx</t></is></c></row>'
    namespace = b"http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    sheet = b'<worksheet xmlns="%s"><sheetData>%s</sheetData></worksheet>'
    return with_part(xlsx(), "xl/worksheets/sheet1.xml", sheet % (namespace, row * 400_000))


def pdf_that_is_its_own_page() -> bytes:
    return assembled(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 9 /Parent 2 0 R >>",
        ]
    )


def pdf_bomb() -> bytes:
    """Return a page of a few KB that decompress to 100 MB."""
    packed = zlib.compress(zlib.compress(bytes(100_000_000), 9), 9)
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>"
    return assembled(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            page,
            stream(packed, "/Filter [/FlateDecode /FlateDecode]"),
        ]
    )


def bomb_pptx() -> bytes:
    return with_part(pptx(), "ppt/slides/slide1.xml", b" " * 150_000_000)


def bomb_epub() -> bytes:
    return with_part(epub(), "OPS/one.xhtml", b"<p>" * 50_000_000)


def laughing_pptx() -> bytes:
    """Return entities that expand to ten others each, and one for a file of this machine."""
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    text = b"<x>&e9;&f;</x>"
    head = f'<!DOCTYPE x [<!ENTITY e0 "ha"><!ENTITY f SYSTEM "file:///etc/passwd">{entities}]>'
    return with_part(pptx(), "ppt/slides/slide1.xml", head.encode() + text)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        pytest.param(bomb_docx, "a.docx", id="docx"),
        pytest.param(bomb_pptx, "a.pptx", id="pptx", marks=pytest.mark.full),
        pytest.param(bomb_epub, "a.epub", id="epub", marks=pytest.mark.full),
        pytest.param(pdf_that_is_its_own_page, "a.pdf", id="pdf loop"),
    ],
)
async def test_what_would_take_all_there_is_is_refused_in_time(make, name):
    content = make()
    started = time.monotonic()

    with pytest.raises(UnreadableDocument) as refused:
        await read_file_text(content, name=name, bounds=TIGHT)

    assert str(refused.value).startswith(("it ", "part of it ", "reading it ", "things "))
    assert time.monotonic() - started < 60


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(bomb_xlsx, id="xlsx", marks=pytest.mark.full),
        pytest.param(pdf_bomb, id="pdf"),
    ],
)
async def test_of_what_is_too_much_the_beginning_is_read_or_nothing(make):
    content = make()
    started = time.monotonic()

    try:
        text = await read_file_text(content, bounds=TIGHT)
    except UnreadableDocument as refused:
        text = str(refused)

    assert len(text) <= TIGHT.characters + 200
    assert time.monotonic() - started < 60


async def test_a_cell_is_read_once_however_many_columns_it_spans():
    text = await read_file_text(wide_docx(), name="a.docx", bounds=TIGHT)

    assert text == "| wide | narrow |"


async def test_entities_of_a_slide_stand_for_nothing():
    with pytest.raises(UnreadableDocument, match="it is damaged"):
        await read_file_text(laughing_pptx(), name="a.pptx", bounds=TIGHT)


async def test_elements_inside_each_other_without_end_are_read_as_text():
    assert await html_to_markdown("<div>" * 9_000 + "deep &amp; well") == "deep & well"


async def test_a_text_that_is_too_long_is_cut_and_says_so():
    text = await read_file_text(pdf("First", "Second"), bounds=Bounds(seconds=20, characters=31))

    assert text == (
        "[page 1 of 2]\nFirst\n[page 2 of \n"
        "[cut: the rest is left out, because the text is too long]"
    )


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> queue.Queue[subprocess.Popen[bytes]]:
    """Return the started processes in their current state."""
    processes: queue.Queue[subprocess.Popen[bytes]] = queue.Queue()
    start = process.ReadingJob.start

    def told(job: process.ReadingJob, given: int) -> subprocess.Popen[bytes]:
        process = start(job, given)
        processes.put(process)
        return process

    monkeypatch.setattr(process.ReadingJob, "start", told)
    return processes


async def test_whoever_does_not_wait_any_more_ends_the_process(begun):
    reading = asyncio.create_task(html_to_markdown("<br>" * 400_000, bounds=Bounds(seconds=90)))
    process = await asyncio.to_thread(begun.get, timeout=60)

    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading

    assert await asyncio.to_thread(process.wait, 60) == -signal.SIGKILL


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="only Linux tells it")
async def test_the_process_knows_nothing_of_our_environment(monkeypatch, begun):
    monkeypatch.setenv("SOME_API_KEY", "s3cret")
    reading = asyncio.create_task(html_to_markdown("<br>" * 400_000, bounds=Bounds(seconds=90)))
    process = await asyncio.to_thread(begun.get, timeout=60)

    known = b""
    while not known and process.poll() is None:  # empty until the new program is running
        known = Path(f"/proc/{process.pid}/environ").read_bytes()

    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert known.split(b"\0") == [f"PATH={os.defpath}".encode(), b"PYTHONUTF8=1", b""]


async def test_the_long_documents_of_one_person_do_not_delay_a_short_one_of_another(monkeypatch):
    monkeypatch.setattr(process, "pool", cache(partial(FairPool, 2, "documents")))
    long = Bounds(seconds=90, owner="ada")
    reading = [
        asyncio.create_task(html_to_markdown("<br>" * 400_000, bounds=long)) for _ in range(4)
    ]
    await asyncio.sleep(0)  # each of them is in the queue

    async with asyncio.timeout(60):
        text = await html_to_markdown("<p>Short</p>", bounds=Bounds(owner="bob"))
    are_done = [task.done() for task in reading]
    for task in reading:
        task.cancel()
    await asyncio.wait(reading)

    assert (text, are_done) == ("Short", [False] * 4)
