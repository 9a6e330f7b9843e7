"""A program signs a user in with MCP's own client, and calls an application for the user."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from mcp.client import Client
from mcp.client.auth.oauth2 import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)
from playwright.sync_api import Page, expect
from pydantic import AnyUrl

from tests.browser.conftest import barriers, pick
from tests.sites.serving import Site, serve

PASSWORD = "a-long-password-for-tests"
BACK = "http://127.0.0.1:4000/callback"
PATIENCE = 120.0
PREPARE = """
from django.contrib.auth.models import User
Deployment.objects.create(deployment_id="demo-model", display_name="Demo", provider="demo")
user = User.objects.create_user("ada", "", password)
application = Application.objects.create(
    slug="desk",
    title="Desk",
    manifest={
        "orchestrator": {"deployment": {"deployment_id": "demo-model"}},
        "contexts": [],
        "tool_sets": [],
        "features": {"timestamp": None},
    },
)
Grant.objects.create(application=application, user=user)
team = Team.objects.create(group=Group.objects.create(name="Editors"))
user.groups.add(team.group)
"""


@dataclass
class Program:
    """A program on the user's device. `opened` is the URL that it opens in the browser, and
    `returned` the URL to which the browser returns."""

    opened: Future[str] = field(default_factory=Future)
    returned: Future[str] = field(default_factory=Future)
    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info

    async def open_browser(self, url: str) -> None:
        self.opened.set_result(url)

    async def wait_for_browser(self) -> AuthorizationCodeResult:
        url = await asyncio.wrap_future(self.returned)
        told = {name: value for name, [value] in parse_qs(urlsplit(url).query).items()}
        return AuthorizationCodeResult(**told)

    async def call(self, url: str) -> str:
        """Call the application. Sign in if the server refuses the call."""
        about = OAuthClientMetadata(
            client_name="Editor",
            redirect_uris=[AnyUrl(BACK)],
            token_endpoint_auth_method="none",
        )
        provider = OAuthClientProvider(url, about, self, self.open_browser, self.wait_for_browser)
        async with (
            asyncio.timeout(PATIENCE),
            httpx2.AsyncClient(auth=provider) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            result = await client.call_tool("desk", {"message": "Hello"})
        content: Any = result.content[0]
        return str(content.text)

    def start(self, url: str) -> Future[str]:
        """Call the application in a thread, because the browser has a loop of its own here."""
        answer: Future[str] = Future()

        def run() -> None:
            try:
                answer.set_result(asyncio.run(self.call(url)))
            except BaseException as error:  # noqa: BLE001 - the test raises it
                answer.set_exception(error)
                self.opened.cancel()

        threading.Thread(target=run, daemon=True).start()
        return answer


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with serve(tmp_path_factory.mktemp("site"), MCP_OAUTH="true") as served:
        served.shell(PREPARE, password=PASSWORD)
        yield served


@pytest.fixture(scope="module", autouse=True)
def catalog_of_the_module() -> None:
    """Keep the rows: this module has its own site, whose catalog no other module uses."""


@pytest.mark.walkthrough
def test_a_user_connects_a_program_and_disconnects_it(page: Page, site: Site):
    program = Program()
    page.route(f"{BACK}*", lambda route: route.fulfill(body="You can close this window."))
    url = f"{site.url}/mcp/desk"

    answer = program.start(url)
    page.goto(program.opened.result(PATIENCE))
    page.get_by_label("Username").fill("ada")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("heading", name="Connect Editor?")).to_be_visible()
    expect(page.get_by_text("send messages to the app Desk on your behalf")).to_be_visible()
    page.get_by_role("button", name="Team: Personal").press("ArrowDown")
    expect(page.get_by_role("option")).to_have_text(["Personal", "Editors"])
    assert barriers(page) == []
    page.keyboard.press("Escape")
    pick(page, "Team", "Editors")
    pick(page, "Team", "Personal")
    with page.expect_request(f"{BACK}*") as returned:
        page.get_by_role("button", name="Connect").click()
    program.returned.set_result(returned.value.url)

    assert "Hello" in answer.result(PATIENCE)
    assert program.tokens is not None
    assert program.start(url).result(PATIENCE)  # It is signed in.
    sent = {"authorization": f"Bearer {program.tokens.access_token}"}
    assert httpx2.get(f"{site.url}/v1/models", headers=sent).status_code == 401

    page.goto("/account/")
    programs = page.get_by_role("region", name="Connected programs")
    expect(programs.get_by_role("heading", name="Editor")).to_be_visible()
    expect(programs.get_by_text("desk", exact=False)).to_be_visible()
    assert barriers(page) == []
    programs.get_by_role("button", name="Disconnect Editor").click()
    expect(page.get_by_text("The program was disconnected.")).to_be_visible()
    expect(programs).to_have_count(0)
    again = Program(tokens=program.tokens, client=program.client)
    again.start(url)
    assert again.opened.result(PATIENCE).startswith(f"{site.url}/oauth/authorize?")
    again.returned.set_result(f"{BACK}?error=access_denied&state=x")
