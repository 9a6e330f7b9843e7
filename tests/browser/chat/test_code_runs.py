"""A user runs and changes the code of an answer, with the real server."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect

from tests.browser.chat.test_demo import question, wait_for_answer
from tests.browser.chat.test_models import LOOKS
from tests.browser.chat.test_rendering import png
from tests.browser.conftest import barriers
from tests.capabilities.interpreter.tools import predefined_tool
from tests.peers.upstream import serve_upstream
from tests.sites.serving import Site

PREPARE = """
Deployment.objects.create(
    deployment_id=slug, display_name="Echo", base_url=url, model_name="echo", api_key="k"
)
manifest = {
    "orchestrator": {"deployment": {"deployment_id": slug}},
    "contexts": [],
    "tool_sets": [{"type": "internal", "name": "own", "tools": [tool]}],
}
Application.objects.create(slug=slug, title="Code", is_public=True, manifest=manifest)
"""
PICTURE = base64.b64decode(png(60, 40)).hex()
ANSWER = f"""
```python draw.py
open('dot.png', 'wb').write(bytes.fromhex('{PICTURE}'))
open('sums.csv', 'w').write('a,b')
print('drawn')
6 * 7
```

```python
while True:
    pass
```

```html
<title>Visitors</title>
<h1>Old</h1>
```
"""


@pytest.fixture(scope="module")
def address(site: Site) -> Iterator[str]:
    slug = f"code-{uuid4().hex[:6]}"
    with serve_upstream() as upstream:
        site.shell(PREPARE, url=upstream.url, slug=slug, tool=predefined_tool())
        yield f"/chat/{slug}/"


@pytest.fixture
def code(page: Page, address: str) -> Page:
    """Return a page with an answer that contains the code."""
    page.goto(address)
    question(page).fill("Hello")
    question(page).press("Enter")
    wait_for_answer(page)
    page.locator("markdown-text.answer-text").evaluate(
        "(shown, text) => Object.assign(shown, { text, complete: true })", ANSWER
    )
    expect(page.locator(".code")).to_have_count(3)
    return page


def check_looks(page: Page) -> None:
    for scheme, width in LOOKS:
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 800})
        assert (scheme, width, barriers(page)) == (scheme, width, [])
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.set_viewport_size({"width": 1280, "height": 800})


def test_code_is_run_and_stopped(code: Page) -> None:
    page = code
    first, endless = (page.locator(".code").nth(number) for number in range(2))
    endless.get_by_role("button", name="Run").press("Enter")
    expect(endless.locator(".code-state")).to_have_text("Running…")
    with page.expect_event("requestfailed"):
        endless.get_by_role("button", name="Stop").press("Enter")
    expect(endless.locator(".code-state")).to_have_text("Stopped.")

    state = first.locator(".code-state")
    run = first.get_by_role("button", name="Run")
    # The server notices the disconnection a moment later.
    for _ in range(50):
        run.press("Enter")
        expect(state).not_to_have_text("Running…")
        if state.inner_text() == "Finished.":
            break
    expect(first.locator(".code-output pre")).to_have_text(["drawn", "42"])
    picture = first.get_by_role("img", name="dot.png")
    assert picture.evaluate("image => image.naturalWidth") == 60
    with page.expect_download() as saved:
        first.get_by_role("button", name="Download sums.csv").press("Enter")
    assert saved.value.path().read_text() == "a,b"
    check_looks(page)
    first.get_by_role("button", name="Remove the output").press("Enter")
    expect(run).to_be_focused()


def test_a_page_is_changed_and_sent(code: Page) -> None:
    page = code
    page.get_by_role("button", name="Preview").press("Enter")
    panel = page.locator("artifact-panel")
    panel.get_by_role("button", name="Edit").press("Enter")
    text = panel.get_by_label("Text of Visitors")
    expect(text).to_be_focused()
    text.fill("<title>Visitors</title>\n<h1>New</h1>")
    panel.get_by_role("button", name="Preview", exact=True).press("Enter")
    expect(panel.frame_locator("iframe").locator("h1")).to_have_text("New")
    panel.get_by_role("button", name="Edit").press("Enter")
    check_looks(page)

    panel.get_by_role("button", name="Add to message").press("Enter")
    expect(question(page)).to_be_focused()
    expect(question(page)).to_have_value(sent("New") + "\n\n")
    page.keyboard.type("And now?")
    page.keyboard.press("Enter")
    expect(page.locator("chat-question").last).to_contain_text("And now?")
    expect(panel.get_by_text("You sent this version.")).to_be_visible()
    assert barriers(page) == []


def sent(heading: str) -> str:
    return (
        "I changed this. Continue with my version:\n\n"
        f"```html\n<title>Visitors</title>\n<h1>{heading}</h1>\n```"
    )


def test_a_visitor_without_a_pointer_changes_code_on_a_phone(code: Page) -> None:
    page = code
    page.set_viewport_size({"width": 390, "height": 800})
    page.locator(".code").first.get_by_role("button", name="Edit").press("Enter")
    panel = page.locator("artifact-panel")
    text = panel.get_by_label("Text of draw.py")
    expect(text).to_be_focused()
    text.press_sequentially("# more\n")
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    page.locator(".code").first.get_by_role("button", name="Edit").press("Enter")
    expect(panel.get_by_text("Your version, not sent yet.")).to_be_visible()

    panel.get_by_role("button", name="Add to message").press("Enter")

    expect(panel).to_have_count(0)
    expect(question(page)).to_be_focused()
    value: Any = question(page).input_value()
    assert value.startswith("I changed this. Continue with my version:\n\n```python draw.py\n")
