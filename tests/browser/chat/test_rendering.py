"""Parts of an answer are rendered on the page: tables, code, diagrams, pages, images, sources."""

from __future__ import annotations

import base64
import json
import re
import struct
import zlib
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.chat.scripted import ScriptedSocket
from tests.browser.conftest import SWITCHES, barriers, watch
from tests.browsers import chromium
from tests.sites.serving import Site

SLUG = "rendering"
ADDRESS = f"/chat/{SLUG}/"
MANIFEST: dict[str, Any] = {
    "orchestrator": {
        "deployment": {"deployment_id": "demo"},
        "system_prompt": {"type": "custom", "content": "You help.", "variables": {}},
    },
    "contexts": [],
    "tool_sets": [],
}
PROSE = """
| City | Sales |
|-|-:|
| Oslo | 1,200.5 |
| Rome | 90 |

- [x] bought
- [ ] cooked

See the note[^n].

```python src/app.py
{code}
```

[^n]: Of all things.
"""
CHART = {
    "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
    "title": "Sales",
    "data": {"values": [{"a": "A", "b": 28}, {"a": "B", "b": 55}]},
    "mark": "bar",
    "encoding": {
        "x": {"field": "a", "type": "nominal"},
        "y": {"field": "b", "type": "quantitative"},
    },
}
AWAY = {**CHART, "data": {"url": "https://example.org/data.json"}}
DIAGRAMS = f"""
```mermaid
flowchart LR
  A[Start] -->|yes| B[End]
```

```mermaid
flowchart LR
  A[[ --> broken
```

```vega-lite
{json.dumps(CHART)}
```

```json
{json.dumps(AWAY)}
```
"""
HOSTILE = """<title>Visitor</title><h1>Running</h1><ul></ul><script>
const tell = (name, what) => document.querySelector("ul").append(`${name} ${what};`);
const attempt = (name, act) => { try { tell(name, act()); } catch (error) { tell(name, error.name); } };
attempt("cookie", () => document.cookie);
attempt("storage", () => localStorage.length);
attempt("parent", () => parent.document.title);
attempt("top", () => { top.location = "https://example.org/"; return "left"; });
attempt("popup", () => open("https://example.org/"));
attempt("calls", () => typeof RTCPeerConnection);
fetch("/api/").then(() => tell("own", "answered"), () => tell("own", "refused"));
fetch("https://example.org/").then(() => tell("far", "answered"), () => tell("far", "refused"));
</script><form action="https://example.org/" method="post"><button>Send</button></form>
<script>document.querySelector("button").click();</script>"""
REFUSED = [
    "cookie SecurityError",
    "storage SecurityError",
    "parent SecurityError",
    "top SecurityError",
    "popup null",
    "calls undefined",
    "own refused",
    "far refused",
]


@pytest.fixture(scope="module")
def address(site: Site) -> str:
    site.shell(
        """
        Application.objects.create(slug=slug, title="Rendering", is_public=True, manifest=manifest)
        """,
        slug=SLUG,
        manifest=MANIFEST,
    )
    return ADDRESS


def answer(page: Page, address: str, *texts: str, **message: Any) -> ScriptedSocket:
    """Open the page and wait for the answer to a question."""
    socket = ScriptedSocket()
    socket.serve(page)
    page.goto(address)
    question = page.get_by_label("Your question")
    question.fill("Show me")
    question.press("Enter")
    expect(page.get_by_text("Sending…")).to_have_count(0)
    socket.write(*texts)
    socket.end(**message)
    expect(page.locator(".answer-foot")).to_be_visible()
    return socket


@pytest.fixture
def lenient_page(context: BrowserContext) -> Page:
    """Return a page whose content security policy may refuse something."""
    return context.new_page()


def test_a_table_is_sorted_and_copied_by_keyboard_and_code_is_wrapped_and_saved(
    page: Page, address: str
) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    code = "\n".join(f"print({number})  # {'long ' * 30}" for number in range(12))
    answer(page, address, PROSE.format(code=code))

    head = page.get_by_role("columnheader", name="Sales")
    head.get_by_role("button").press("Enter")
    expect(head).to_have_attribute("aria-sort", "ascending")
    page.get_by_role("button", name="Copy as CSV").press("Enter")
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()").splitlines() == [
        "City,Sales",
        "Rome,90",
        'Oslo,"1,200.5"',
    ]

    pre = page.locator(".code pre")
    assert pre.evaluate("pre => pre.scrollWidth > pre.clientWidth")
    page.get_by_role("button", name="Wrap lines").click()
    assert pre.evaluate("pre => pre.scrollWidth <= pre.clientWidth")
    with page.expect_download() as saved:
        page.locator(".code").get_by_role("button", name="Download").click()
    assert saved.value.suggested_filename == "app.py"
    assert saved.value.path().read_text() == code
    assert barriers(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_diagrams_and_charts_are_pictures_whose_source_can_be_read(
    page: Page, address: str, scheme: Any
) -> None:
    page.emulate_media(color_scheme=scheme)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    answer(page, address, "First words.\n\n", DIAGRAMS)
    for block in page.locator(".diagram").all():
        block.scroll_into_view_if_needed()

    expect(page.locator(".diagram[data-drawn]")).to_have_count(4)
    expect(page.locator(".diagram-picture img")).to_have_count(2)
    names = ["Diagram: flowchart LR", "Chart: Sales"]
    for name in names:
        picture = page.get_by_role("img", name=name)
        expect(picture).to_be_visible()
        assert picture.evaluate("image => image.naturalWidth") > 50
    expect(page.locator(".diagram-problem")).to_have_text(
        [
            "This diagram could not be drawn, so its source is shown. Line 3 can’t be read.",
            re.compile("A chart can only show data that stands in it."),
        ]
    )
    expect(page.locator(".diagram pre:visible")).to_have_count(2)
    page.emulate_media(media="print")
    expect(page.locator(".diagram-picture img:visible")).to_have_count(2)
    page.emulate_media(media="screen")
    assert [url for url in asked if "example.org" in url] == []
    assert barriers(page) == []

    first = page.locator(".diagram").first
    first.get_by_role("button", name="Show the source").click()
    expect(first.locator("pre")).to_be_visible()
    for kind in ("SVG", "PNG"):
        with page.expect_download() as saved:
            first.get_by_role("button", name=f"Download as {kind}").click()
        assert saved.value.suggested_filename == f"diagram.{kind.lower()}"
    before = page.get_by_role("img", name=names[0]).get_attribute("src")
    page.emulate_media(color_scheme="light" if scheme == "dark" else "dark")
    expect(page.get_by_role("img", name=names[0])).not_to_have_attribute("src", before or "")


MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August"]
CHARTS = [
    CHART,
    {**CHART, "width": 900, "height": 600},
    {**CHART, "data": {"values": [{"a": f"{month} 2025", "b": 1} for month in MONTHS]}},
    {"hconcat": [CHART, {**CHART, "width": 900}], "$schema": CHART["$schema"]},
]
LONG = " --> ".join(f"{letter}[A step of the plan]" for letter in "ABCDEFG")


def test_charts_are_laid_out_for_the_width_and_wide_diagrams_are_scrolled(
    page: Page, address: str
) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    charts = "\n\n".join(f"```vega-lite\n{json.dumps(chart)}\n```" for chart in CHARTS)
    answer(page, address, f"{charts}\n\n```mermaid\nflowchart LR\n  {LONG}\n```\n")
    for block in page.locator(".diagram").all():
        block.scroll_into_view_if_needed()
    expect(page.locator(".diagram-picture img")).to_have_count(5)
    # Each fits its frame, except several charts next to each other and the long diagram.
    assert [look["fits"] for look in looks(page)] == [True, True, True, False, False]
    assert [look["angles"] for look in looks(page)[:3]] == [[], [], [-45]]
    assert {size for look in looks(page)[:4] for size in look["sizes"]} == {12, 14}
    assert all(look["scale"] >= 0.78 for look in looks(page))
    assert barriers(page) == []

    before = looks(page)[0]["width"]
    page.set_viewport_size({"width": 700, "height": 800})
    page.locator(".diagram").first.scroll_into_view_if_needed()
    picture = page.locator(".diagram-picture img").first
    expect(picture).not_to_have_css("width", f"{before}px")
    assert [looks(page)[0][name] for name in ("fills", "scale")] == [True, 1]


def looks(page: Page) -> list[dict[str, Any]]:
    """Return what the pictures show: the font sizes and angles of their texts, and their scale."""
    found: list[dict[str, Any]] = page.locator(".diagram-picture img").evaluate_all(
        """images => images.map(image => {
            const svg = decodeURIComponent(image.src);
            const all = (pattern) => [...new Set([...svg.matchAll(pattern)].map((one) => Number(one[1])))];
            const frame = image.closest(".diagram-frame");
            return {
                width: image.width,
                fills: image.width === frame.clientWidth - 24,
                fits: frame.scrollWidth === frame.clientWidth,
                scale: image.width / image.naturalWidth,
                sizes: all(/font-size="([\\d.]+)px"/g),
                angles: all(/text-anchor="end"[^>]*rotate\\((-?\\d+)\\)/g),
            };
        })"""
    )
    return found


def test_a_page_in_an_answer_runs_in_a_frame_that_reaches_nothing(
    lenient_page: Page, address: str
) -> None:
    page = lenient_page
    first = "```html\n<title>Visitor</title><h1>Early</h1>\n```\n\n"
    away = "```html\n<title>Away</title><script>location='https://example.org/'</script>\n```\n\n"
    drawing = "```svg\n<svg viewBox='0 0 9 9'><title>Dot</title><circle r='4'/></svg>\n```\n\n"
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    answer(page, address, first, f"```html\n{HOSTILE}\n```\n\n", away, drawing)

    opener = page.get_by_role("button", name="Preview").nth(1)
    opener.click()
    shown = page.frame_locator("artifact-panel iframe")
    expect(shown.locator("h1")).to_have_text("Running")
    expect(shown.locator("ul")).to_contain_text("far refused")
    expect(shown.locator("ul")).to_contain_text("own refused")
    told = shown.locator("ul").inner_text().rstrip(";").split(";")
    assert sorted(told) == sorted(REFUSED)
    assert len(page.context.pages) == 1
    expect(page.get_by_role("heading", name="Visitor")).to_be_focused()
    expect(page.locator(".artifact-versions")).to_contain_text("2/2")
    assert barriers(page) == []

    page.get_by_role("button", name="Full size").click()
    expect(shown.locator("h1")).to_have_text("Running")
    page.get_by_role("button", name="Earlier version").click()
    expect(shown.locator("h1")).to_have_text("Early")
    page.get_by_role("button", name="Code", exact=True).click()
    expect(page.locator("artifact-panel pre")).to_contain_text("Early")
    expect(page.locator("artifact-panel iframe")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(page.locator("artifact-panel")).to_have_count(0)
    expect(opener).to_be_focused()

    page.set_viewport_size({"width": 360, "height": 740})
    page.get_by_role("button", name="Preview").nth(3).click()
    expect(shown.locator("circle")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.keyboard.press("Escape")
    with page.expect_event("console", lambda line: "frame-src" in line.text):
        page.get_by_role("button", name="Preview").nth(2).click()
    assert [url for url in asked if "example.org" in url] == []


def test_the_sidebar_makes_room_for_a_panel_and_returns_when_the_panel_closes(
    lenient_page: Page, address: str
) -> None:
    page = lenient_page
    page.set_viewport_size({"width": 1440, "height": 700})
    answer(page, address, "```html\n<title>Room</title><p>Here\n```\n")
    toggle, sidebar = page.locator("#rail-toggle"), page.locator("#sidebar")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("dialog.artifact")).to_be_visible()
    expect(toggle).to_have_attribute("aria-expanded", "true")
    assert widths(page) == {"sidebar": 272, "column": 506, "panel": 662}

    page.set_viewport_size({"width": 1100, "height": 700})
    expect(toggle).to_have_attribute("aria-expanded", "false")
    assert widths(page) == {"sidebar": 60, "column": 534, "panel": 506}
    toggle.click()
    expect(toggle).to_have_attribute("aria-expanded", "true")
    assert widths(page) == {"sidebar": 272, "column": 534, "panel": 506}
    assert barriers(page) == []
    page.keyboard.press("Escape")
    expect(toggle).to_have_attribute("aria-expanded", "false")

    page.set_viewport_size({"width": 1000, "height": 700})
    expect(page.locator("dialog.artifact:modal")).to_be_visible()
    assert widths(page) == {"sidebar": 272, "column": 728, "panel": 1000}
    page.set_viewport_size({"width": 1100, "height": 700})
    expect(page.locator("dialog.artifact:not(:modal)")).to_be_visible()
    page.get_by_role("button", name="Close the preview").click()
    expect(toggle).to_have_attribute("aria-expanded", "true")
    expect(sidebar).to_have_css("width", "272px")

    toggle.click()  # The user's own choice stays.
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Close the preview").click()
    expect(page.locator("artifact-panel")).to_have_count(0)
    expect(sidebar).to_have_css("width", "60px")
    toggle.click()


def widths(page: Page) -> dict[str, int]:
    parts = {"sidebar": "#sidebar", "column": ".column", "panel": "dialog.artifact"}
    return {
        name: page.locator(selector).evaluate("element => element.offsetWidth")
        for name, selector in parts.items()
    }


def test_a_page_that_never_ends_is_ended_by_closing_it(
    browser: Browser, site: Site, address: str
) -> None:
    """Desktop browsers run such a frame in its own process, which small machines have to request."""
    kind = browser.browser_type
    large = kind.launch(
        executable_path=chromium.find(kind.executable_path),
        args=[*SWITCHES, "--site-per-process"],
    )
    page = large.new_page(base_url=site.url, viewport={"width": 1280, "height": 900})
    problems = watch(page)
    answer(page, address, "```html\n<title>Loop</title><script>for (;;);</script>\n```\n")

    page.get_by_role("button", name="Preview").click()
    expect(page.locator("artifact-panel iframe")).to_be_visible()
    page.get_by_role("button", name="Close the preview").click()

    expect(page.locator("iframe")).to_have_count(0)
    question = page.get_by_label("Your question")
    question.fill("Still here?")
    expect(question).to_have_value("Still here?")
    assert problems == []
    large.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.slow("uses several pages in a browser")
def test_pictures_are_seen_large_one_after_the_other_and_sound_is_played_in_place(
    page: Page, address: str, scheme: Any
) -> None:
    page.emulate_media(color_scheme=scheme)
    files = [
        {"type": "image/png", "title": "Dot", "data": png(60, 40)},
        {"type": "image/png", "title": "Wide", "data": png(900, 300)},
        {"type": "audio/wav", "title": "Silence", "data": base64.b64encode(wav()).decode()},
        {"type": "text/html", "title": "page.html", "data": encoded("<h1>Größe</h1>")},
    ]
    answer(page, address, f"![Inline](data:image/png;base64,{png(8, 8)})", attachments=files)

    expect(page.locator("audio")).to_have_js_property("duration", 1)
    boxes = [card.bounding_box() for card in page.locator(".gallery .picture img").all()]
    assert len({box["height"] for box in boxes if box}) == 1
    assert barriers(page) == []
    page.get_by_role("button", name="Dot").press("Enter")
    viewer = page.get_by_role("dialog", name="Picture")
    expect(viewer.locator("p")).to_contain_text("Image 2 of 3")
    assert barriers(page) == []
    page.keyboard.press("ArrowRight")
    expect(viewer.get_by_role("img", name="Wide")).to_be_visible()
    expect(viewer.get_by_role("button", name="Next")).to_be_disabled()
    viewer.get_by_role("button", name="Actual size").click()
    assert viewer.get_by_role("img").evaluate("image => image.width") == 900
    page.keyboard.press("Escape")
    expect(viewer).to_have_count(0)
    expect(page.get_by_role("button", name="Wide")).to_be_focused()

    page.get_by_role("button", name="Preview page.html").click()
    expect(page.frame_locator("artifact-panel iframe").locator("h1")).to_have_text("Größe")


def test_a_number_shows_what_it_stands_for_to_pointers_and_keyboards(
    page: Page, address: str
) -> None:
    socket = answer(page, address, 'Warm<cit data-id="a"></cit>.')
    report = {"id": "a", "title": "Report", "url": "https://example.org/a", "quote": "It is warm."}
    page.get_by_label("Your question").fill("Cite")
    page.get_by_label("Your question").press("Enter")
    expect(page.get_by_text("Sending…")).to_have_count(0)
    socket.write('It is warm<cit data-id="a"></cit>, see [there](https://example.org/b).')
    socket.say(type="annotation.added", annotation=report)
    socket.end()

    mark = page.get_by_role("link", name="Source 1: Report")
    mark.focus()
    card = page.get_by_role("tooltip")
    expect(card.locator("p")).to_have_text(["Report", "It is warm.", "example.org"])
    expect(mark).to_have_accessible_description("Report It is warm. example.org")
    assert barriers(page) == []
    page.keyboard.press("Escape")
    expect(card).to_have_count(0)
    mark.hover()
    card.hover()
    expect(card).to_be_visible()
    expect(page.locator(".sources li")).to_have_text(
        re.compile("1.*Report.*example.org", re.DOTALL)
    )
    foreign = page.get_by_role("link", name="there")
    expect(foreign).to_have_attribute("title", "example.org")
    expect(foreign).to_have_attribute("rel", "noopener noreferrer")


def png(width: int, height: int) -> str:
    """Return a teal picture in base64."""
    rows = (b"\0" + b"\x0f\x76\x6e" * width) * height

    def chunk(kind: bytes, content: bytes) -> bytes:
        checked = kind + content
        return struct.pack(">I", len(content)) + checked + struct.pack(">I", zlib.crc32(checked))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + body).decode()


def wav() -> bytes:
    """Return a second of silence."""
    data = b"\0\0" * 8000
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, 8000, 16000, 2, 16)
    body = b"WAVE" + form + b"data" + struct.pack("<I", len(data)) + data
    return b"RIFF" + struct.pack("<I", len(body)) + body


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
