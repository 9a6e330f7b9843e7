"""Users connect their accounts during an answer, which then continues by itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit
from urllib.request import HTTPRedirectHandler, build_opener

import pytest
from channels.db import database_sync_to_async
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django.fixtures import Settings
from starlette.responses import JSONResponse

from apps.accounts.caller import Caller
from apps.agent.messages import ModelMessage
from apps.capabilities.rest.capability import rest
from apps.capabilities.wrappers.sign_in import NOBODY
from apps.chat.account import connections
from apps.chat.visitors import adopt
from apps.conversations.answering.continuation import sweeper
from apps.errors import Refused
from apps.live.hub import Hub
from apps.live.models import Interaction, JournalEntry, Run, RunStep
from apps.manifest.manifest import Manifest
from apps.workspace.local.models import RegisteredClient, ToolAccount
from tests.capabilities.manifests import opened, tool, tool_set, use
from tests.capabilities.mcp.servers import over_http
from tests.chat.scripts import MANIFEST, Scene, Tab, scene, settled
from tests.fakes import calling, saying
from tests.servers.sign_in_service import (
    FIXED_CLIENT,
    FIXED_SECRET,
    Behind,
    SignInService,
    serve_sign_in,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("nothing_predefined")]


@pytest.fixture(scope="module")
def served() -> Iterator[Behind]:
    with serve_sign_in() as running:
        yield running


@pytest.fixture
def service(settings: Settings, served: Behind) -> SignInService:
    settings.PRIVATE_NETWORK_ALLOWLIST = ["127.0.0.1"]
    served.service = SignInService(served.service.url)
    return served.service


def mcp_manifest(service: SignInService, **rest: Any) -> dict[str, Any]:
    toolset = over_http(service.mcp_url, authorization={"type": "oauth", **rest})
    return {**MANIFEST, "tool_sets": [{**toolset, "name": "notes"}]}


def rest_manifest(service: SignInService, **rest: Any) -> dict[str, Any]:
    redirect = "http://testserver/connect/callback/"
    service.clients[FIXED_CLIENT] = {"redirect_uris": [redirect], "client_secret": FIXED_SECRET}
    authorization = {
        "type": "oauth",
        "client_id": FIXED_CLIENT,
        "client_secret": FIXED_SECRET,
        "authorization_url": f"{service.url}/authorize",
        "token_url": f"{service.url}/token",
        **rest,
    }
    toolset = tool_set(tool(f"{service.url}/me", "get"), authorization=authorization)
    return {**MANIFEST, "tool_sets": [{**toolset, "name": "profile"}]}


class Stay(HTTPRedirectHandler):
    def http_error_302(self, req: Any, fp: Any, code: int, msg: str, headers: Any) -> Any:
        return fp


def follow(url: str) -> str:
    """Return the address to which the sign-in service redirects the browser."""
    with build_opener(Stay).open(url) as answer:
        return str(answer.headers["location"])


@dataclass
class Signing:
    """A conversation of a user, and the browser in which they sign in."""

    on: Scene
    tab: Tab
    browser: Client
    conversation: str = ""
    requested: list[dict[str, Any]] = field(default_factory=list)

    async def ask(self, *calls: tuple[str, str, object]) -> None:
        """Let the model call tools, and wait until the run waits for the user."""
        self.on.model.put(*calling(*calls), None)
        self.conversation = await self.tab.ask("Help.", self.conversation or None)
        frames = await self.tab.until("run.status", status="waiting")
        self.requested = [one for one in frames if one["type"] == "interaction.requested"]
        await settled(self.on.hub)

    @property
    def card(self) -> dict[str, Any]:
        asked: dict[str, Any] = self.requested[0]["asked"]
        return asked

    async def get(self, url: str) -> Any:
        return await database_sync_to_async(self.browser.get)(url)

    async def sent_away(self) -> str:
        """Return the address at the sign-in service."""
        answer = await self.get(f"/connect/{self.card['account']}/")
        assert answer.status_code == 302, answer.content
        return str(answer["location"])

    async def connect(self) -> Any:
        """Press the card's button, agree, and return to the site."""
        return await self.get(follow(await self.sent_away()))

    async def go_on(self, *said: str) -> list[dict[str, Any]]:
        for text in said or ("Done.",):
            self.on.model.put(*saying(text), None)
        await sweeper(self.on.hub, self.on.visitor.open_workspace).sweep()
        frames = await self.tab.until_over()
        await settled(self.on.hub)
        return frames

    async def skip(self) -> None:
        asked = {name: self.requested[0][name] for name in ("run", "key", "kind")}
        await self.tab.send_json_to({"type": "answer", **asked, "answer": {"outcome": "skipped"}})
        await self.tab.until("interaction.resolved")

    @property
    def told(self) -> str:
        """Return the model's last result."""
        last: ModelMessage = self.on.model.asked[-1].messages[-1]
        return str(last.content)


@asynccontextmanager
async def signing(manifest: dict[str, Any], users: Any) -> AsyncIterator[Signing]:
    async with scene(manifest=manifest, checks_tasks=False) as on:
        user = await database_sync_to_async(users.create_user)("vera")
        on.visitor.user = user
        browser = Client()
        await database_sync_to_async(browser.force_login)(user)
        yield Signing(on, await on.visitor.tab(on.hub), browser)


@pytest.fixture
def users(django_user_model: Any) -> Any:
    return django_user_model.objects


async def test_a_person_connects_an_mcp_server_and_the_answer_goes_on(service, users):
    async with signing(mcp_manifest(service), users) as it:
        await it.ask(("a", "notes_connect_account", {}))
        first_tools = [spec.name for spec in it.on.model.asked[-1].tools]
        page = await it.connect()
        it.on.model.put(*calling(("b", "notes_read_notes", {})), None)
        frames = await it.go_on("You have to buy milk.")

    host = urlsplit(service.url).netloc
    assert first_tools == ["notes_connect_account"]
    assert it.card == {
        "title": "Connect notes to continue",
        "account": it.card["account"],
        "server": host,
        "host": host,
    }
    assert "You can close this tab" in page.text
    [resolved] = [one for one in frames if one["type"] == "interaction.resolved"]
    assert (resolved["answer"], resolved["by"]) == ({"outcome": "connected"}, "you")
    assert [spec.name for spec in it.on.model.asked[-1].tools] == ["notes_read_notes"]
    assert it.told == "Buy milk."
    assert service.asked.count("POST /register") == 1
    assert service.forms[0]["resource"] == service.mcp_url


async def test_a_person_connects_a_rest_service_and_the_call_is_made(service, users):
    async with signing(rest_manifest(service, scope="profile"), users) as it:
        await it.ask(("a", "profile_look_up", {}))
        address = parse_qs(urlsplit(await it.sent_away()).query)
        await it.connect()
        await it.go_on()

    assert (address["scope"], "resource" in address) == (["profile"], False)
    assert it.card["title"] == "Connect profile to continue"
    assert it.told == '{"name":"Vera"}'
    assert service.sent == [f"Bearer {next(iter(service.tokens))}"]


async def test_the_next_question_needs_no_sign_in_and_the_client_registers_once(service, users):
    async with signing(mcp_manifest(service), users) as it:
        await it.ask(("a", "notes_connect_account", {}))
        await it.connect()
        await it.go_on()
        frames = await it.tab.exchange(
            "Again.",
            *calling(("b", "notes_read_notes", {})),
            None,
            *saying("Milk."),
            conversation=it.conversation,
        )
        await settled(it.on.hub)
        other = await database_sync_to_async(users.create_user)("ben")
        await database_sync_to_async(it.browser.force_login)(other)
        it.on.visitor.user = other
        it.tab, it.conversation = await it.on.visitor.tab(it.on.hub), ""
        await it.ask(("c", "notes_connect_account", {}))
        await it.connect()
        await it.go_on()

    assert "interaction.requested" not in [frame["type"] for frame in frames]
    assert service.asked.count("POST /register") == 1
    buckets = ToolAccount.objects.values_list("bucket", flat=True)
    assert len({bucket async for bucket in buckets}) == 2


async def test_one_sign_in_answers_all_cards_for_the_same_server(service, users):
    async with signing(rest_manifest(service), users) as it:
        await it.ask(("a", "profile_look_up", {}), ("b", "profile_look_up", {}))
        await it.connect()
        await it.go_on()

    assert len(it.requested) == 2
    results = [message.content for message in it.on.model.asked[-1].messages[-2:]]
    assert results == ['{"name":"Vera"}'] * 2


async def test_who_skips_the_sign_in_lets_the_answer_go_on_without_it(service, users):
    async with signing(mcp_manifest(service), users) as it:
        await it.ask(("a", "notes_connect_account", {}))
        await it.skip()
        frames = await it.go_on()

    assert frames[-1]["status"] == "done"
    assert it.told == (
        "Error: The user did not want to connect notes. Continue without it, and do not ask again."
    )


async def test_the_page_cannot_say_that_somebody_is_connected(service, users):
    async with signing(mcp_manifest(service), users) as it:
        await it.ask(("a", "notes_connect_account", {}))
        asked = {name: it.requested[0][name] for name in ("run", "key", "kind")}
        error = await it.tab.refusal(type="answer", **asked, answer={"outcome": "connected"})

    assert error["code"] == "bad_frame"


async def test_a_sign_in_has_ten_minutes_and_the_model_is_told_when_they_are_over(service, users):
    async with signing(mcp_manifest(service), users) as it:
        await it.ask(("a", "notes_connect_account", {}))
        due = (await Interaction.objects.aget()).due_at
        await Interaction.objects.aupdate(due_at=timezone.now() - timedelta(seconds=1))
        await it.go_on()

    assert due is not None
    assert timedelta(seconds=540) < due - timezone.now() <= timedelta(seconds=600)
    assert it.told == (
        "Error: The user did not connect notes in time. Continue without it, and mention what "
        "you left out."
    )


async def test_a_sign_in_can_wait_for_ever(service, users):
    async with signing(mcp_manifest(service, seconds=None), users) as it:
        await it.ask(("a", "notes_connect_account", {}))

    assert (await Interaction.objects.aget()).due_at is None


async def test_a_state_is_good_once_and_for_its_person_alone(service, users):
    async with signing(mcp_manifest(service), users) as it:
        await it.ask(("a", "notes_connect_account", {}))
        back = follow(await it.sent_away())
        stranger = Client()
        seen = [await database_sync_to_async(stranger.get)(back)]
        seen.append(await database_sync_to_async(stranger.get)(f"/connect/{it.card['account']}/"))
        seen.append(await it.get(back))
        seen.append(await it.get(back))
        seen.append(await it.get("/connect/callback/?state=guessed&code=code-1"))

    assert [answer.status_code for answer in seen] == [400, 404, 200, 400, 400]
    assert service.asked.count("POST /token") == 1


async def test_a_state_is_not_good_for_ever(service, users):
    async with signing(mcp_manifest(service), users) as it:
        await it.ask(("a", "notes_connect_account", {}))
        back = follow(await it.sent_away())
        await ToolAccount.objects.aupdate(state_until=timezone.now())
        answer = await it.get(back)

    assert (answer.status_code, service.asked.count("POST /token")) == (400, 0)


@pytest.mark.parametrize(
    "changed", [{"iss": "https://evil.example.com"}, {"iss": ""}, {"code": "code-99"}]
)
async def test_a_forged_return_connects_nothing(service, users, changed):
    async with signing(mcp_manifest(service), users) as it:
        await it.ask(("a", "notes_connect_account", {}))
        parts = urlsplit(follow(await it.sent_away()))
        given = {name: values[0] for name, values in parse_qs(parts.query).items()} | changed
        answer = await database_sync_to_async(it.browser.get)(parts.path, given)

    assert answer.status_code == 400
    assert (await ToolAccount.objects.aget()).connected_at is None
    assert (await Run.objects.aget()).status == "waiting"


async def test_a_refusal_is_told_in_words_and_the_card_stays(service, users):
    service.denies = True
    async with signing(mcp_manifest(service), users) as it:
        await it.ask(("a", "notes_connect_account", {}))
        page = await it.connect()
        service.denies = False
        again = await it.connect()
        await it.go_on()

    assert "The sign-in service returned: access_denied." in page.text
    assert (page.status_code, again.status_code) == (400, 200)


async def test_words_of_the_service_are_not_markup(service, users):
    async with signing(mcp_manifest(service), users) as it:
        await it.ask(("a", "notes_connect_account", {}))
        state = parse_qs(urlsplit(await it.sent_away()).query)["state"][0]
        given = {"state": state, "iss": service.url, "error": "<script>x</script>"}
        page = await database_sync_to_async(it.browser.get)("/connect/callback/", given)

    assert "&lt;script&gt;x&lt;/script&gt;" in page.text
    assert "<script>x" not in page.text


async def test_a_client_that_the_service_forgot_registers_anew(service, users):
    async with signing(mcp_manifest(service), users) as it:
        await it.ask(("a", "notes_connect_account", {}))
        back = follow(await it.sent_away())
        service.clients.clear()
        refused = await it.get(back)
        again = await it.connect()
        await it.go_on()

    assert (refused.status_code, again.status_code) == (400, 200)
    assert await RegisteredClient.objects.acount() == 1


async def test_a_token_that_is_revoked_is_asked_for_again(service, users):
    async with signing(rest_manifest(service), users) as it:
        await it.ask(("a", "profile_look_up", {}))
        await it.connect()
        await it.go_on()
        service.tokens.clear()
        service.refresh_tokens.clear()
        await it.ask(("b", "profile_look_up", {}))
        await it.connect()
        await it.go_on()

    assert it.told == '{"name":"Vera"}'


async def test_an_mcp_server_that_takes_the_token_no_more_is_connected_anew(service, users):
    async with signing(mcp_manifest(service), users) as it:
        await it.ask(("a", "notes_connect_account", {}))
        await it.connect()
        await it.go_on()
        service.tokens.clear()
        service.refresh_tokens.clear()
        # The tools are already cached; the server refuses the call.
        await it.ask(("b", "notes_read_notes", {}))
        await it.connect()
        await it.go_on()

    assert it.told == "Buy milk."


async def test_a_scope_that_a_call_needs_is_allowed_in_the_middle_of_an_answer(service, users):
    told = 'Bearer error="insufficient_scope", scope="notes.write"'
    async with signing(mcp_manifest(service), users) as it:
        await it.ask(("a", "notes_connect_account", {}))
        await it.connect()
        await it.go_on()
        service.mcp["POST"] = JSONResponse({}, 403, {"WWW-Authenticate": told})
        await it.ask(("b", "notes_read_notes", {}))
        address = await it.sent_away()
        service.mcp.clear()
        await it.get(follow(address))
        await it.go_on()

    assert parse_qs(urlsplit(address).query)["scope"] == ["notes.read notes.write"]
    assert it.told == "Buy milk."


async def test_a_service_that_never_takes_its_token_is_not_asked_for_ever(service, users):
    async with signing(rest_manifest(service), users) as it:
        await it.ask(("a", "profile_look_up", {}))
        await it.connect()
        service.tokens.clear()
        service.refresh_tokens.clear()
        await it.go_on()

    assert it.told == ("Error: profile was connected, but it refuses the sign-in. Tell the user.")


async def test_a_busy_run_does_not_delay_the_page_after_a_sign_in(service, users, monkeypatch):
    is_free = asyncio.Event()
    answer_cards = connections.answer_cards

    def answer(run: Run, account: ToolAccount) -> None:
        if not is_free.is_set():
            raise Refused("run_going", "It acts on another answer.")
        answer_cards(run, account)

    monkeypatch.setattr(connections, "answer_cards", answer)
    monkeypatch.setattr(connections, "HUB", hub := Hub())
    monkeypatch.setattr(connections, "TRY_SECONDS", 0.01)
    monkeypatch.setattr(connections, "TRIES", 1_000_000)  # a waiting page never ends
    async with signing(rest_manifest(service), users) as it:
        await it.ask(("a", "profile_look_up", {}))
        page = await it.connect()
        is_free.set()
        await asyncio.wait_for(asyncio.gather(*hub.tasks), 60)
        await it.go_on()

    assert (page.status_code, it.told) == (200, '{"name":"Vera"}')


async def test_people_see_and_disconnect_what_is_theirs(service, users):
    async with signing(mcp_manifest(service), users) as it:
        await it.ask(("a", "notes_connect_account", {}))
        await it.connect()
        await it.go_on()
        account = it.card["account"]
        page = await it.get("/connections/")
        stranger, post = Client(), database_sync_to_async(it.browser.post)
        answers = [
            await database_sync_to_async(stranger.post)("/connections/", {"account": account}),
            await post("/connections/", {"account": "x"}),
            await post("/connections/", {"account": account}),
            await post("/connections/", {"account": account}),
        ]
        after = await it.get("/connections/")

    row = await ToolAccount.objects.aget()
    assert (">notes</h2>" in page.text, "No connections yet" in after.text) == (True, True)
    assert [answer.status_code for answer in answers] == [404, 404, 302, 404]
    assert service.revoked == [next(iter(service.refresh_tokens))]
    assert (row.access_token, row.refresh_token, row.connected_at) == ("", "", None)


def test_sign_in_services_read_what_this_installation_is(settings: Settings):
    settings.PUBLIC_URL = "https://apps.example.com"

    answer = Client().get("/client-metadata.json")

    assert (answer.json(), answer["Cache-Control"]) == (
        {
            "client_id": "https://apps.example.com/client-metadata.json",
            "client_uri": "https://apps.example.com",
            "client_name": "QuickApps",
            "redirect_uris": [f"https://apps.example.com{reverse('connect-callback')}"],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "application_type": "web",
            "token_endpoint_auth_method": "none",
        },
        "public, max-age=3600",
    )


def test_nothing_is_disconnected_without_the_token_of_the_form(users):
    user = users.create_user("vera")
    client = Client(enforce_csrf_checks=True)
    client.force_login(user)
    now = timezone.now()
    row = ToolAccount.objects.create(bucket=f"user-{user.pk}", server="https://a", connected_at=now)

    assert client.post("/connections/", {"account": str(row.pk)}).status_code == 403
    row.refresh_from_db()
    assert row.connected_at == now


def test_accounts_go_with_their_person(users):
    vera, ben = users.create_user("vera"), users.create_user("ben")
    for user in (vera, ben):
        ToolAccount.objects.create(bucket=f"user-{user.pk}", server="https://a.example.com")

    vera.delete()

    assert [row.bucket for row in ToolAccount.objects.all()] == [f"user-{ben.pk}"]


async def test_nothing_that_is_kept_of_a_run_has_a_token(service, users):
    async with signing(rest_manifest(service), users) as it:
        await it.ask(("a", "profile_look_up", {}))
        await it.connect()
        await it.go_on()

    kept: list[Any] = []
    for model in (JournalEntry, RunStep, Interaction):
        kept += [row async for row in model.objects.values()]
    seen = str(kept) + str(it.on.model.asked)
    secrets = [*service.tokens, *service.refresh_tokens, FIXED_SECRET]
    assert [one for one in secrets if one in seen] == []
    assert "Vera" in seen


async def test_programs_are_told_that_nobody_can_be_asked(service):
    document = Manifest.model_validate(rest_manifest(service))
    key = Caller("key-ab", "key")

    async with opened(rest, document, key) as contribution:
        result = await use(contribution.tools[0])

    assert result.content == NOBODY.format(title="profile")
    assert service.asked == []


def test_what_a_visitor_connected_ends_when_they_sign_in(users):
    user = users.create_user("vera")
    ToolAccount.objects.create(bucket="session-1", server="https://a.example.com")

    adopt("session-1", Caller(f"user-{user.pk}", "user", user_id=user.pk))

    assert not ToolAccount.objects.exists()
