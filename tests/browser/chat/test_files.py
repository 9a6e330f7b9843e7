"""Files on the page: from a user's disk to the question, and downloads from the conversation."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser.chat.test_demo import ask, question, wait_for_answer
from tests.browser.conftest import barriers, barriers_of_schemes, open_more, watch
from tests.documents.samples import pdf
from tests.sites.serving import Site

LONG = "A name that goes on and on without an end in sight and then some more.txt"
PDF = pdf("Plan of a house", "A door")
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b"
    "550000000a49444154789c63a8070000810080d394534a0000000049454e44ae426082"
)


@pytest.fixture(scope="module", autouse=True)
def content(site: Site) -> None:
    site.manage("import_content")


@pytest.fixture
def chat(page: Page) -> Page:
    page.goto("/chat/demo/")
    expect(question(page)).to_be_visible()
    return page


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "plan.pdf").write_bytes(PDF)
    (tmp_path / "dot.png").write_bytes(PNG)
    (tmp_path / "cities.csv").write_text('City,Note\nOslo,"cold, clear"\n<b>Lima</b>,\n')
    (tmp_path / "notes.md").write_text("# Notes\n\n**bold** <script>document.title = 1</script>\n")
    (tmp_path / "code.py").write_text("def double(x):\n    return x * 2\n")
    (tmp_path / "data.bin").write_bytes(b"\x00\x01\x02")
    (tmp_path / LONG).write_text("long")
    return tmp_path


def choose(page: Page, *paths: Path) -> None:
    page.locator("#files-to-send").set_input_files(list(paths))


def stored(page: Page) -> Locator:
    return page.locator(".chip[data-state=done]")


def names(page: Page) -> list[str]:
    return page.locator(".chip-name").all_inner_texts()


@pytest.mark.walkthrough
def test_a_pdf_is_read_by_a_tool_and_is_there_after_a_reload_and_in_a_second_tab(
    chat: Page, folder: Path, context: BrowserContext
) -> None:
    choose(chat, folder / "plan.pdf")
    expect(stored(chat)).to_have_count(1)
    ask(chat, 'Read lines 0 to 5 of "plan.pdf"')
    said = wait_for_answer(chat)
    assert "Plan of a house" in said

    chat.reload()
    assert wait_for_answer(chat) == said
    link = chat.locator(".question").get_by_role("link", name="plan.pdf")
    expect(link).to_be_visible()
    other = context.new_page()
    problems = watch(other)
    other.goto(chat.url)
    expect(other.locator(".question").get_by_role("link", name="plan.pdf")).to_be_visible()
    assert problems == []
    address = link.get_attribute("href") or ""
    assert re.fullmatch(r"/files/session-\w+/conversations/[\w-]{36}/plan\.pdf", address)
    assert chat.url.rstrip("/").endswith(address.split("/")[4])
    assert context.request.get(address).body() == PDF


def test_what_cannot_be_sent_says_why(chat: Page, folder: Path) -> None:
    (folder / "huge.bin").write_bytes(bytes(50_000_001))
    (folder / "empty.txt").write_bytes(b"")
    (folder / "lie.png").write_bytes(b"\x00\x01")

    choose(chat, folder / "huge.bin", folder / "empty.txt", folder / "lie.png")

    details = chat.locator(".chip[data-state=failed] .chip-detail")
    expect(details).to_have_count(3)
    assert details.all_inner_texts() == [
        "Too large (50 MB). The limit is 50 MB.",
        "Can’t attach empty files or folders.",
        "The content of the file doesn’t match its extension. Check the file, or change its "
        "extension.",
    ]
    assert barriers(chat) == []
    question(chat).fill("Read them")
    question(chat).press("Enter")
    expect(chat.locator(".composer").get_by_role("alert")).to_have_text(
        "Not sent because huge.bin could not be uploaded. Remove the file."
    )
    expect(question(chat)).to_have_value("Read them")
    for name in ("huge.bin", "empty.txt", "lie.png"):
        chat.get_by_role("button", name=f"Remove {name}").click()
    expect(chat.locator(".tray")).to_have_count(0)


@pytest.mark.slow("a walk through several pages in a browser")
def test_files_are_shown_where_they_can_be(chat: Page, folder: Path) -> None:
    shown = ["cities.csv", "notes.md", "code.py", "dot.png", "data.bin", LONG]
    choose(chat, *(folder / name for name in shown))
    expect(stored(chat)).to_have_count(len(shown))
    ask(chat, "What can you do?")
    wait_for_answer(chat)

    for preview in chat.locator("file-preview summary").all():
        preview.click()

    cells = chat.locator("file-preview td")
    expect(cells).to_have_text(["Oslo", "cold, clear", "<b>Lima</b>", ""])
    expect(chat.locator("file-preview th")).to_have_text(["City", "Note"])
    expect(chat.locator("file-preview strong")).to_have_text("bold")
    expect(chat.locator("file-preview .hljs-keyword").first).to_have_text("def")
    expect(chat.locator(".picture img")).to_have_js_property("naturalWidth", 1)
    with chat.expect_download() as download:
        chat.get_by_role("link", name="data.bin").click()
    assert download.value.path().read_bytes() == b"\x00\x01\x02"
    assert chat.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert barriers(chat) == []


@pytest.mark.slow("a walk through several pages in a browser")
def test_the_panel_lists_downloads_and_deletes_with_the_keyboard_alone(
    chat: Page, folder: Path
) -> None:
    chat.set_viewport_size({"width": 320, "height": 640})
    expect(chat.locator("#files-button")).to_be_hidden()
    choose(chat, folder / "notes.md", folder / LONG)
    expect(stored(chat)).to_have_count(2)
    assert barriers_of_schemes(chat) == []
    ask(chat, "What can you do?")
    wait_for_answer(chat)

    open_more(chat)
    chat.get_by_role("button", name="Files", exact=True).press("Enter")
    expect(chat.get_by_role("dialog").get_by_role("link", name=LONG, exact=True)).to_be_visible()
    assert chat.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert barriers_of_schemes(chat) == []
    chat.get_by_role("button", name="Delete notes.md").press("Enter")
    expect(chat.get_by_role("button", name="Cancel")).to_be_focused()
    chat.keyboard.press("Tab")
    chat.keyboard.press("Enter")

    expect(chat.locator(".files-line")).to_have_count(1)
    expect(chat.get_by_role("dialog").get_by_role("link", name="notes.md")).to_have_count(0)
    chat.keyboard.press("Escape")
    expect(chat.get_by_role("button", name="More options for this conversation")).to_be_focused()
    chat.locator("summary", has_text="notes.md").click()
    expect(chat.get_by_text("The file no longer exists.")).to_be_visible()
