"""A page with CopilotKit shows answers and tool calls, runs its own tool and answers interrupts."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.contract import proves_feature
from tests.judges.ag_ui.conftest import PREPARE, SLUG, ShopHandler, selling
from tests.servers.http import serving
from tests.sites.gateway import Gateway, serve_gateway

FOLDER = Path(__file__).parent
ESBUILD = FOLDER / "node_modules" / ".bin" / "esbuild"
OPTIONS = (
    *("--bundle", "--minify", "--jsx=automatic", "--log-level=error", "--loader:.css=empty"),
    '--define:process.env.NODE_ENV="production"',
)
pytestmark = pytest.mark.skipif(
    not ESBUILD.exists(),
    reason="CopilotKit tests skipped: make tests/judges/copilotkit/node_modules/stamp",
)


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve the page."""
    folder = tmp_path_factory.mktemp("copilotkit")
    shutil.copy(FOLDER / "page.html", folder / "index.html")
    command: list[str | Path] = [
        ESBUILD,
        FOLDER / "page.jsx",
        *OPTIONS,
        f"--outfile={folder / 'page.js'}",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr

    class Files(SimpleHTTPRequestHandler):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given, directory=str(folder))

    with serving(Files) as url:
        yield url


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory, origin: str) -> Iterator[Gateway]:
    folder = tmp_path_factory.mktemp("ag-ui")
    with serve_gateway(folder, ShopHandler, CORS_ALLOWED_ORIGINS=origin) as served:
        yield served


@pytest.fixture(scope="module")
def key(gateway: Gateway) -> str:
    return str(gateway.site.shell(PREPARE, slug=SLUG, manifest=selling(gateway.upstream.url)))


@pytest.fixture
def page(browser: Browser, origin: str, gateway: Gateway, key: str) -> Iterator[Page]:
    """Open the page. The test fails if it requests anything from other servers."""
    opened, elsewhere = browser.new_page(), []

    def follow(route: Any) -> None:
        if route.request.url.startswith((origin, gateway.url)):
            route.continue_()
        else:
            elsewhere.append(route.request.url)
            route.abort()

    opened.route("**/*", follow)
    opened.goto(f"{origin}/#url={gateway.url}/ag-ui/{SLUG}&key={key}")
    yield opened
    opened.close()
    assert elsewhere == []


def ask(page: Page, text: str) -> None:
    page.get_by_role("textbox").fill(text)
    page.get_by_role("textbox").press("Enter")


@proves_feature("ag-ui", "text", "cancel")
def test_an_answer_is_shown_while_it_streams_and_can_be_stopped(page: Page, gateway: Gateway):
    gateway.upstream.is_left.clear()

    ask(page, "hang")
    expect(page.get_by_text("Well", exact=True)).to_be_visible()
    page.get_by_test_id("copilot-send-button").click()

    assert gateway.upstream.is_left.wait(60)
    ask(page, "say hello")
    expect(page.get_by_text("say hello", exact=True)).to_have_count(2)


@proves_feature("ag-ui", "tools", "client tools")
def test_tools_of_the_application_and_of_the_page_are_shown_with_their_results(page: Page):
    ask(page, "call internal_timeawareness_current_timestamp {}")
    expect(page.get_by_text("It brought 2")).to_be_visible()
    ask(page, 'call look {"from": "Oslo"}')
    expect(page.get_by_text("It brought rain in Oslo")).to_be_visible()

    clock, look = page.get_by_role("note").all_inner_texts()
    assert clock.startswith("internal_timeawareness_current_timestamp: complete, > ")
    assert look == "look: complete, rain in Oslo"


@proves_feature("ag-ui", "approvals")
@pytest.mark.parametrize(
    ("button", "answer"), [("Approve", 'It brought {"paid": true}'), ("Dismiss", "It brought ")]
)
def test_an_approval_is_an_interrupt_that_a_button_resolves(page: Page, button: str, answer: str):
    ask(page, 'call shop_pay {"amount": 5}')
    page.get_by_role("group", name="shop").get_by_role("button", name=button).click()

    expect(page.get_by_text(answer)).to_be_visible()
    expect(page.get_by_role("group")).to_have_count(0)
    is_paid = "paid" in page.get_by_role("note").inner_text()
    assert is_paid == (button == "Approve")


@proves_feature("ag-ui", "questions")
def test_a_question_is_an_interrupt_that_a_button_resolves(page: Page):
    asked = json.dumps({"question": "Which?", "options": [{"label": "Red"}]})

    ask(page, f"call internal_ask_question {asked}")
    page.get_by_role("group", name="Which?").get_by_role("button", name="Red").click()

    expect(page.get_by_text('The user chose: "Red"')).to_be_visible()


@proves_feature("ag-ui", "errors")
def test_a_failure_leaves_a_page_that_can_ask_again(page: Page):
    ask(page, "break")
    expect(page.get_by_text("Well", exact=True)).to_be_visible()
    ask(page, "say hello")

    expect(page.get_by_text("say hello", exact=True)).to_have_count(2)
