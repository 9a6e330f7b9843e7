"""A swipe on the phone opens and closes the menu."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.chat.scripted import ScriptedSocket
from tests.browser.chat.test_chat import MANIFEST, ask
from tests.browser.conftest import barriers, watch
from tests.sites.serving import Site

WIDTH, HEIGHT = 390, 800
"""The box for the first question is in the middle, so swipes are below it."""
Point = tuple[int, int]


DRAWN = "new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))"
CREATE = """
Application.objects.create(slug="swipes", title="Swipes", is_public=True, manifest=manifest)
"""


@pytest.fixture(scope="module")
def address(site: Site) -> str:
    site.shell(CREATE, manifest=MANIFEST)
    return "/chat/swipes/"


@pytest.fixture
def phone(
    request: pytest.FixtureRequest, browser: Browser, site: Site, address: str
) -> Iterator[Page]:
    context = browser.new_context(
        base_url=site.url,
        service_workers="block",
        viewport={"width": WIDTH, "height": HEIGHT},
        has_touch=True,
        is_mobile=True,
        locale=getattr(request, "param", "en-US"),
    )
    page = context.new_page()
    problems = watch(page)
    page.goto(address)
    # Before its first frame, a browser ignores input on a page.
    page.evaluate(DRAWN)
    yield page
    context.close()
    assert problems == []


def swipe(page: Page, *points: Point) -> None:
    touch = page.context.new_cdp_session(page)
    for number, (x, y) in enumerate(points):
        at = [{"x": x, "y": y}]
        kind = "touchMove" if number else "touchStart"
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": at})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    touch.detach()


def menu(page: Page) -> Locator:
    return page.get_by_role("button", name="Close the menu")


def test_a_finger_opens_the_menu_and_puts_it_away(phone: Page):
    swipe(phone, (60, 700), (120, 705), (240, 710))
    expect(menu(phone)).to_be_visible()
    assert barriers(phone) == []
    swipe(phone, (300, 700), (200, 695), (90, 690))
    expect(menu(phone)).to_be_hidden()

    swipe(phone, (60, 700), (70, 750), (130, 790))  # rather down than along
    swipe(phone, (300, 700), (340, 700), (385, 700))  # from the other half
    swipe(phone, (60, 700), (80, 700), (100, 700))  # not far enough
    swipe(phone, (240, 700), (120, 700), (60, 700))  # the other way
    phone.get_by_label("Your question").fill("words that a finger goes through")
    box = phone.get_by_label("Your question").bounding_box()
    assert box is not None
    at = round(box["y"] + box["height"] / 2)
    swipe(phone, (100, at), (160, at), (300, at))
    phone.get_by_role("button", name="Menu").click()
    expect(menu(phone)).to_be_visible()
    swipe(phone, (30, 700), (120, 700), (240, 700))
    expect(menu(phone)).to_be_visible()


def test_a_wide_table_is_moved_and_not_the_menu(phone: Page):
    socket = ScriptedSocket()
    socket.serve(phone)
    phone.reload()
    ask(phone, socket, "A table?")
    wide = "|".join(f" Column number {number} " for number in range(12))
    socket.write(f"|{wide}|\n|{'---|' * 12}\n|{wide}|\n")
    socket.end()
    expect(phone.locator(".answer-foot")).to_be_visible()  # the table is rendered again at the end
    box = phone.locator(".answer-text table").bounding_box()
    assert box is not None
    at = round(box["y"] + box["height"] / 2)

    swipe(phone, (60, at), (120, at), (260, at))
    phone.get_by_role("button", name="Menu").click()
    expect(menu(phone)).to_be_visible()


@pytest.mark.walkthrough
@pytest.mark.parametrize("phone", ["ar"], indirect=True)
def test_where_lines_begin_on_the_right_the_menu_comes_from_there(phone: Page):
    sidebar = phone.locator("#sidebar")
    swipe(phone, (330, 700), (270, 700), (150, 700))
    expect(sidebar).to_be_visible()
    swipe(phone, (90, 700), (190, 700), (300, 700))
    expect(sidebar).to_be_hidden()
