"""The tool that reads the text of a document (G-50, G-51, G-52)."""

import pytest

from apps.capabilities.documents.capability import PAGE_CHARACTERS, footer
from apps.errors import FileRefused
from tests.contract import proves
from tests.documents.samples import pdf, protected_pdf

TEXT = "".join(f"{n:04} " for n in range(5_000))


@proves("G-52")
async def test_a_text_of_one_page_has_no_footer(desk):
    path = await desk.keep("a.txt", TEXT[:PAGE_CHARACTERS].encode())

    async with desk.run() as run:
        assert await run.read(path) == TEXT[:PAGE_CHARACTERS]


@proves("G-52")
async def test_one_character_more_makes_two_pages_and_joined_they_are_the_text(desk):
    text = TEXT[: PAGE_CHARACTERS + 1]
    path = await desk.keep("a.txt", text.encode())

    async with desk.run() as run:
        pages = [await run.read(path, page=page) for page in (1, 2)]

        assert pages == [text[:-1] + footer(1, 2), text[-1] + footer(2, 2)]
        assert await run.read(path, page=0) == await run.read(path, page=-5) == pages[0]
        assert await run.refused("file_content_extraction_tool", file_url=path, page=3) == (
            "Parameter page is invalid: 'a.txt' has 2 pages of 10,000 characters."
        )


@proves("G-51")
async def test_the_pages_of_a_pdf_are_joined_by_a_blank_line(desk):
    path = await desk.keep("a.pdf", pdf("First", "", "Third"), "application/pdf")

    async with desk.run() as run:
        assert await run.read(path) == "First\n\nThird"


@proves("G-50")
async def test_the_other_names_do_the_same(desk):
    path = await desk.keep("a.txt", TEXT.encode())

    async with desk.run(source_names=True) as run:
        assert [tool.spec.name for tool in run.tools] == ["extract_file_content", "rag_search"]
        assert run.tools[1].spec.parameters["required"] == ["query", "file_urls"]
        found = await run.call("extract_file_content", file_url=path, page_number=3)
        answer = await run.call("rag_search", query="0007", file_urls=[path])

    assert found.content == TEXT[2 * PAGE_CHARACTERS :] + footer(3, 3)
    assert answer.content.startswith("Yes [1].")


@proves("G-51")
@pytest.mark.parametrize(
    ("content", "name", "problem"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0", "a.png", "it is neither text nor a supported"),
        (
            b"PK\x03\x04" + bytes(60),
            "a.zip",
            "it is an archive; the only supported archives are .docx, .xlsx,",
        ),
        (protected_pdf("letmein"), "a.pdf", "it is protected by a password."),
        (pdf("Cut off")[:150], "a.pdf", "it is damaged"),
    ],
    ids=["binary", "archive", "password", "damaged"],
)
async def test_what_cannot_be_read_says_why(desk, content, name, problem):
    path = await desk.keep(name, content, "application/octet-stream")

    async with desk.run() as run:
        for tool, asked in (("file_content_extraction_tool", {}), ("rag_tool", {"request": "?"})):
            refused = await run.refused(tool, file_url=path, **asked)
            assert refused.startswith(f"The document {name!r} cannot be read: {problem}")


async def test_an_empty_file_has_no_text(desk):
    path = await desk.keep("a.txt", b" \n")

    async with desk.run() as run:
        assert (await run.read(path)).strip() in ("", "'a.txt' has no text.")


async def test_a_file_that_is_too_large_is_not_read(desk, settings):
    path = await desk.keep("a.txt", TEXT.encode())
    settings.DEFAULT_FILE_LOADING_SIZE_LIMIT = settings.CHAT_UPLOAD_MAX_BYTES = 1_000

    async with desk.run() as run:
        refused = await run.refused("file_content_extraction_tool", file_url=path)

    assert refused == (
        "Parameter file_url is invalid: The file is 25,000 bytes; the limit is 1,000."
    )


async def test_an_own_document_may_be_as_large_as_an_upload_of_the_page(desk, settings):
    path = await desk.keep("a.txt", TEXT[:PAGE_CHARACTERS].encode())
    settings.DEFAULT_FILE_LOADING_SIZE_LIMIT = 1_000
    settings.CHAT_UPLOAD_MAX_BYTES = 20_000

    async with desk.run() as run:
        assert await run.read(path) == TEXT[:PAGE_CHARACTERS]
        with pytest.raises(FileRefused, match=r"is 10,000 bytes; the limit is 1,000\."):
            await run.opening.loader.load(path)


async def test_the_limit_of_the_application_applies_to_own_documents_too(desk, settings):
    path = await desk.keep("a.txt", TEXT.encode())
    settings.CHAT_UPLOAD_MAX_BYTES = 50_000

    async with desk.run(size_limit=2_000) as run:
        refused = await run.refused("file_content_extraction_tool", file_url=path)

    assert refused == (
        "Parameter file_url is invalid: The file is 25,000 bytes; the limit is 2,000."
    )
