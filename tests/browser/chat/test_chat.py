"""The chat page against a scripted server: readers see the right answer, whatever the network does."""

from __future__ import annotations

import json
import os
import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, WebSocket, expect

from tests.browser.chat.scripted import ScriptedSocket, send
from tests.browser.conftest import ACCOUNT, barriers, open_account, open_more, sign_out
from tests.contract import proves
from tests.sites.serving import Site

SLUG = "page-tests"
ADDRESS = f"/chat/{SLUG}/"
MANIFEST: dict[str, Any] = {
    "orchestrator": {
        "deployment": {"deployment_id": "demo"},
        "system_prompt": {"type": "custom", "content": "You help.", "variables": {}},
    },
    "contexts": [],
    "tool_sets": [],
}
HOSTILE = """
<script>document.title = "taken"</script>
<img src=x onerror="document.title = 'taken'">

[a link](javascript:document.title='taken') and [another](https://example.org/page)

![a picture](https://example.org/words-of-the-conversation.png)

<b onclick="document.title='taken'">bold</b> <svg onload=alert(1)> <form action=/admin/><input></form>
"""


@pytest.fixture(scope="module")
def application(site: Site) -> str:
    """Return the address of a public application."""
    site.shell(
        """
        Application.objects.create(
            slug=slug, title="Page tests", description="Says what it is told.",
            is_public=True, manifest=manifest,
        )
        """,
        slug=SLUG,
        manifest=MANIFEST,
    )
    return ADDRESS


@pytest.fixture
def socket(page: Page) -> ScriptedSocket:
    scripted = ScriptedSocket()
    scripted.serve(page)
    return scripted


@pytest.fixture
def chat(page: Page, application: str, socket: ScriptedSocket) -> Page:
    page.goto(application)
    expect(question(page)).to_be_visible()
    return page


def question(page: Page) -> Locator:
    return page.get_by_label("Your question")


def ask(page: Page, socket: ScriptedSocket, text: str) -> None:
    question(page).fill(text)
    question(page).press("Enter")
    expect(page.locator(".question-text").last).to_have_text(text)
    expect(page.get_by_text("Sending…")).to_have_count(0)
    assert socket.asked()[-1] == text


@proves("T-05")
def test_a_question_is_answered_with_its_steps_text_and_attachments(
    chat: Page, socket: ScriptedSocket
) -> None:
    ask(chat, socket, "What is the weather?")

    socket.say(type="stage.opened", stage="1", title="Weather", parent=None)
    socket.say(type="stage.delta", stage="1", title=" in Oslo")
    socket.say(type="stage.delta", stage="1", text="The **result**.")
    socket.say(type="stage.opened", stage="2", title="Station", parent="1")
    expect(chat.locator(".step", has_text="Station").last).to_contain_text("Running")
    socket.say(type="stage.closed", stage="2", failed=True, seconds=0.3)
    socket.say(type="stage.closed", stage="1", failed=False, seconds=1.25)
    socket.write("It is **7", " °C**.")
    card = {"type": "text/plain", "title": "Report", "url": "https://example.org/report.txt"}
    socket.say(type="attachment.added", attachment=card)
    socket.end(attachments=[card])

    answer = chat.locator("chat-answer")
    expect(answer.locator("strong")).to_have_text("7 °C")
    expect(answer.locator(".step-title")).to_have_text(["Weather in Oslo", "Station"])
    expect(answer.locator(".step .step .step-state")).to_have_text("Failed")
    expect(answer.locator(".step-time").first).to_have_text("1.3 s")
    expect(answer.get_by_role("link", name="Report")).to_have_attribute(
        "href", "https://example.org/report.txt"
    )
    expect(answer).to_contain_text("154 tokens")
    expect(answer.get_by_text("The result.")).to_have_count(0)
    answer.locator(".steps summary").click()
    expect(answer.get_by_text("The result.")).to_be_visible()


def test_what_a_model_writes_can_neither_run_nor_load_anything(
    chat: Page, socket: ScriptedSocket
) -> None:
    requests: list[str] = []
    chat.on("request", lambda request: requests.append(request.url))
    ask(chat, socket, "Do your worst")

    socket.say(type="stage.opened", stage="1", title="<img src=x onerror=alert(1)>", parent=None)
    socket.write(HOSTILE)
    socket.end()

    answer = chat.locator("chat-answer")
    expect(answer.get_by_role("link", name="another")).to_have_attribute(
        "rel", "noopener noreferrer"
    )
    expect(answer.get_by_role("link", name="a picture")).to_have_attribute(
        "href", "https://example.org/words-of-the-conversation.png"
    )
    hrefs = answer.locator(".answer-text a").evaluate_all(
        "links => links.map(a => a.getAttribute('href'))"
    )
    assert hrefs == [
        None,
        "https://example.org/page",
        "https://example.org/words-of-the-conversation.png",
    ]
    expect(answer.locator("img, script, form, input, markdown-text svg[onload]")).to_have_count(0)
    assert [url for url in requests if "example.org" in url] == []
    assert "taken" not in chat.title()


def test_what_is_long_or_wide_has_room_of_its_own_and_all_of_it_is_printed(
    chat: Page, socket: ScriptedSocket
) -> None:
    lines = "\n".join(f"Line {number}" for number in range(80))
    question(chat).fill(lines)
    question(chat).press("Enter")
    text = chat.locator(".question-text")
    expect(text).to_contain_text("Line 79")
    socket.write("|Name|" + "Column|" * 9 + "\n|-|" + "-|" * 9 + "\n|" + "some words|" * 10)
    socket.write("\n\n[a link](https://example.org/page) and a note[^1].\n\n[^1]: The note.\n")
    dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGD4DwABBAEAX+XDSwAAAABJRU5ErkJggg=="
    socket.end(attachments=[{"type": "image/png", "title": f"{n}", "data": dot} for n in "ab"])

    height = "element => element.getBoundingClientRect().height"
    assert text.evaluate(height) < 300
    text.evaluate("element => element.scrollTo(0, 900)")  # like find-in-page
    expect(chat.get_by_role("button", name="Show less")).to_be_visible()
    assert text.evaluate(height) > 1500
    chat.get_by_role("button", name="Show less").click()
    assert text.evaluate(height) < 300
    table = chat.get_by_role("group", name="Table: Name, Column")
    assert table.evaluate("box => box.scrollWidth > box.clientWidth")
    expect(chat.locator("chat-answer markdown-text sup")).to_have_text(["1", "1"])
    boxes = [card.bounding_box() for card in chat.locator(".picture").all()]
    assert [box["y"] for box in boxes if box] == [boxes[0]["y"]] * 2 if boxes[0] else False
    assert barriers(chat) == []

    chat.emulate_media(media="print")
    assert text.evaluate(height) > 1500
    for hidden in (question(chat), chat.locator(".sidebar"), chat.locator(".answer-foot")):
        expect(hidden).to_be_hidden()
    link = chat.get_by_role("link", name="a link")
    after = link.evaluate("link => getComputedStyle(link, '::after').content")
    assert "https://example.org/page" in after


def test_a_text_from_right_to_left_has_its_marks_on_its_own_side(
    chat: Page, socket: ScriptedSocket
) -> None:
    ask(chat, socket, "שלום")
    socket.write(
        "English first.\n\n> שלום\n\n1. פריט\n\n- [x] פריט\n\n|שם|ערך|\n|-|-|\n|א|12|\n\n```\nlet a;\n```\n"
    )
    socket.end()

    expect(chat.locator(".code")).to_be_visible()
    sides = chat.evaluate(
        """() => {
          const of = (name, side) => getComputedStyle(document.querySelector("markdown-text " + name))[side];
          return [of("blockquote", "borderRightWidth"), of("blockquote", "borderLeftWidth"),
            of("ol", "direction"), of("ul", "direction"), of("td", "direction"), of("td", "textAlign"),
            of(".code", "direction"), of("p", "direction")];
        }"""
    )
    assert sides == ["3px", "0px", "rtl", "rtl", "rtl", "start", "ltr", "ltr"]


def test_a_draft_of_a_person_outlives_its_tab_and_not_their_session(
    admin_page: Page, application: str, socket: ScriptedSocket
) -> None:
    admin_page.goto(application)
    question(admin_page).fill("Half a thought")
    second = admin_page.context.new_page()
    second.goto(application)
    expect(question(second)).to_have_value("Half a thought")

    sign_out(second)
    expect(second.get_by_text("Not signed in")).to_be_visible()
    second.goto(application)
    expect(question(second)).to_have_value("")
    assert second.evaluate("Object.keys(localStorage).filter(key => key.startsWith('draft'))") == []


def test_the_page_follows_the_answer_only_for_a_reader_at_the_bottom(
    chat: Page, socket: ScriptedSocket
) -> None:
    ask(chat, socket, "Write much")
    socket.write("A paragraph.\n\n" * 80)
    expect(chat.locator("chat-answer p").nth(79)).to_be_in_viewport()
    jump = chat.get_by_role("button", name="Jump to latest")
    expect(jump).to_be_hidden()

    chat.mouse.move(700, 300)
    chat.mouse.wheel(0, -600)
    expect(jump).to_be_visible()
    place = chat.evaluate("scrollY")
    socket.write("More.\n\n" * 40)
    expect(chat.locator("chat-answer p").nth(119)).to_be_attached()
    assert chat.evaluate("scrollY") == place
    jump.click()

    expect(chat.locator("chat-answer p").nth(119)).to_be_in_viewport()
    expect(jump).to_be_hidden()


def test_everything_can_be_done_with_the_keyboard(chat: Page, socket: ScriptedSocket) -> None:
    expect(question(chat)).to_be_focused()
    chat.keyboard.type("By hand")
    chat.keyboard.press("Enter")
    expect(chat.get_by_text("Thinking…")).to_be_visible()
    socket.say(type="stage.opened", stage="1", title="A step", parent=None)
    socket.say(type="stage.delta", stage="1", text="What came out.")
    socket.say(type="stage.closed", stage="1", failed=False, seconds=0.2)
    socket.write("```python\nprint(1)\n```\n")
    socket.end()
    expect(chat.locator("#said")).to_have_text("Answer complete.")

    reached = []
    chat.keyboard.press("Shift+Tab")
    for _ in range(10):
        reached.append(chat.evaluate("document.activeElement.innerText.trim().split('\\n')[0]"))
        chat.keyboard.press("Shift+Tab")
    # The buttons below a turn are one tab stop without text.
    foot = ["Details:", "Bad answer", "Good answer", ""]
    assert reached == ["Attach files", *foot, "print(1)", "Copy", "Download", "A step", ""]
    chat.locator(".steps summary").focus()
    chat.keyboard.press("Enter")
    expect(chat.get_by_text("What came out.")).to_be_visible()

    skip = chat.get_by_role("link", name="Skip to content")
    for _ in range(30):
        if skip.evaluate("link => link === document.activeElement"):
            break
        chat.keyboard.press("Shift+Tab")
    expect(skip).to_be_in_viewport()
    chat.keyboard.press("Enter")
    expect(chat.locator("main")).to_be_focused()


def test_the_chosen_theme_is_there_before_the_first_paint(chat: Page) -> None:
    chat.emulate_media(color_scheme="light")
    open_account(chat)
    chat.get_by_role("radio", name="Dark").check(force=True)
    dark = chat.evaluate("getComputedStyle(document.body).backgroundColor")

    chat.reload(wait_until="commit")

    expect(chat.locator("html")).to_have_attribute("data-theme", "dark")
    assert chat.evaluate("getComputedStyle(document.body).backgroundColor") == dark
    open_account(chat)
    chat.get_by_role("radio", name="System default").check(force=True)
    assert chat.evaluate("getComputedStyle(document.body).backgroundColor") != dark


@pytest.mark.walkthrough
@pytest.mark.parametrize("path", ["/", ADDRESS, "/accounts/login/", "/nothing/here/"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_keeps_people_out(
    page: Page, application: str, socket: ScriptedSocket, path: str, scheme: Any
) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto(path)
    if path == ADDRESS:
        expect(question(page)).to_be_visible()

    assert barriers(page) == []


@pytest.mark.slow("axe reads pages in a browser, one after the other")
@pytest.mark.walkthrough
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_in_a_conversation_keeps_people_out(
    chat: Page, socket: ScriptedSocket, scheme: Any
) -> None:
    chat.emulate_media(color_scheme=scheme)
    ask(chat, socket, "Show everything")
    values = "> #### Request:\n\r***city:*** Oslo <b>\n\r***days:*** [1,2]\n\r"
    result = "> ##### Response:\n\n```json\n{}\n```\n\n|a|\n|-|\n|1|\n"
    socket.say(type="stage.opened", stage="1", title="A step", parent=None)
    socket.say(type="stage.delta", stage="1", text=values + result)
    socket.say(type="stage.closed", stage="1", failed=True, seconds=0.2)
    socket.say(type="stage.opened", stage="2", title="Another step", parent=None)
    socket.say(type="stage.closed", stage="2", failed=False, seconds=0.3)
    socket.write("# Top\n\n### Deep\n\n|a|b|\n|-|-|\n|1|2|\n\n```js\nlet a = 1;\n```\n\n$$x^2$$\n")
    socket.write('\n\nCited<cit data-id="a"></cit>.')
    source = {"id": "a", "title": "Report", "url": "https://example.org/a", "quote": "It is so."}
    socket.say(type="annotation.added", annotation=source)
    told = {"conversation": socket.conversation, "answers": {socket.run: ["1"]}}
    socket.end(finish_reason="length", models=["Big one"], costs={"USD": "0.0123"})
    ask(chat, socket, "And fail")
    socket.say(type="run.error", text="It broke.", reference="0a1b2c3d")
    socket.end("failed", attachments=[{"type": "text/markdown", "title": "Notes", "data": "# Hi"}])
    send(socket.viewers[0], type="results.expired", **told)
    expect(chat.locator(".step.expired")).to_have_count(1)
    chat.locator("summary").first.click()
    expect(chat.locator("chat-answer .notice")).to_contain_text("length limit")
    expect(chat.get_by_role("button", name="Try again")).to_be_visible()
    expect(chat.locator("math")).to_be_visible()
    expect(chat.locator("annotation")).to_have_count(0)
    chat.locator(".figures summary").first.focus()
    chat.keyboard.press("Enter")
    expect(chat.locator(".figures dl").first).to_be_visible()
    for width in (1280, 390):
        chat.set_viewport_size({"width": width, "height": 900})
        assert barriers(chat) == []
    open_more(chat)
    chat.locator("select[data-step-level]").select_option("compact")
    chat.keyboard.press("Escape")
    expect(chat.locator(".activity > .step-line")).to_have_count(1)
    assert barriers(chat) == []

    socket.cut()
    expect(chat.locator("#notice")).to_be_visible()
    socket.deaf = True
    assert barriers(chat) == []


@pytest.mark.parametrize("width", [320, 390, 640])
def test_nothing_is_wider_than_a_small_screen(
    chat: Page, socket: ScriptedSocket, width: int
) -> None:
    chat.set_viewport_size({"width": width, "height": 700})
    socket.title = "A title of many words. " * 10
    ask(chat, socket, "w" * 300)
    socket.say(type="stage.opened", stage="1", title="t" * 200, parent=None)
    socket.say(type="stage.closed", stage="1", failed=True, seconds=100)
    socket.write(f"{'x' * 400}\n\n```\n{'y' * 400}\n```\n\n|{'|'.join('abcdefghij')}|\n|")
    socket.write("-|" * 10, "\n|", f"{'cell|' * 10}\n\n$${'a+' * 80}b$$\n")
    socket.end(attachments=[{"type": "application/pdf", "title": "z" * 200, "url": "files/a"}])
    expect(chat.locator("math")).to_be_visible()

    widths = chat.evaluate(
        "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    )
    assert widths[0] <= widths[1]
    chat.get_by_role("button", name="Menu").click()
    expect(chat.get_by_role("link", name="New chat")).to_be_in_viewport()
    chat.keyboard.press("Escape")
    expect(chat.get_by_role("link", name="New chat")).not_to_be_in_viewport()


def test_on_a_phone_the_account_is_at_the_foot_of_the_rail_behind_the_menu(
    page: Page, application: str
) -> None:
    page.set_viewport_size({"width": 390, "height": 700})
    page.goto("/")
    expect(page.get_by_role("link", name="Sign in")).to_be_hidden()

    page.get_by_role("button", name="Menu").press("Enter")
    page.get_by_role("button", name=ACCOUNT).press("Enter")

    expect(page.get_by_role("link", name="Sign in")).to_be_in_viewport(ratio=1)
    assert barriers(page) == []
    if folder := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=f"{folder}/account-menu-390.png")
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="Sign in")).to_be_hidden()


def test_the_data_of_the_page_cannot_leave_its_element(page: Page, site: Site) -> None:
    title = "</script><script>document.title='taken'</script>"
    starters = {"starters": [{"title": title, "text": "x"}]}
    site.shell(
        """
        Application.objects.create(slug=slug, title="Data", is_public=True, manifest=manifest)
        """,
        slug="page-data",
        manifest={**MANIFEST, "conversation_starters": starters},
    )
    page.goto("/chat/page-data/")

    expect(page.get_by_role("button", name=title)).to_be_visible()
    assert (
        json.loads(page.locator("#page-data").inner_text())["starters"]["starters"][0]["title"]
        == title
    )


def test_the_socket_of_a_page_is_opened_once_and_does_not_wait_for_the_modules(
    page: Page, application: str
):
    sockets: list[WebSocket] = []
    page.on("websocket", lambda opened: sockets.append(opened))
    page.goto(application)
    question(page).fill("Hello")
    question(page).press("Enter")
    expect(page.locator("chat-answer")).to_have_count(1)
    with_modules = len(sockets)
    page.route(re.compile(r"/page[.\w]*\.js$"), lambda route: route.abort())
    page.reload()
    assert (with_modules, len(sockets)) == (1, 2)
