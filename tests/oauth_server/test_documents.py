"""Programs that a document describes need no registration."""

from __future__ import annotations

import json
from typing import Any

import pytest
from allauth.idp.oidc.models import Client as OAuthClient
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User

from apps.errors import EgressRefused
from apps.oauth_server import documents
from apps.workspace.egress import clients
from tests.oauth_server.flows import BACK, decide, exchange, query, signed_in
from tests.servers.internet import Page, answer, flood, internet, moved, ok
from tests.tables import each_row

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

DOCUMENT = "https://files.example/client.json"


def described(**changes: Any) -> Page:
    told = {
        "client_id": DOCUMENT,
        "client_name": "Editor",
        "redirect_uris": [BACK],
        "grant_types": ["authorization_code", "refresh_token"],
        **changes,
    }
    return ok(json.dumps(told).encode(), content_type="application/json")


@pytest.fixture(autouse=True)
def without_tls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read documents without TLS, because the servers of the tests have no certificates."""
    parse = clients.parse_url
    monkeypatch.setattr(
        documents, "parse_url", lambda text: parse(text.replace("https://", "http://"))
    )


@sync_to_async
def open_page(user: User, program: str = DOCUMENT) -> Any:
    return signed_in(user).get("/oauth/authorize", query(program))


@sync_to_async
def connect(user: User) -> Any:
    code = decide(signed_in(user), DOCUMENT)["code"]
    return exchange(DOCUMENT, code)


async def test_a_described_program_is_connected(ada: User):
    async with internet({"/client.json": described()}) as net:
        page = await open_page(ada)
        found = await connect(ada)

    assert "details come from <strong>files.example</strong>" in page.text
    assert "nobody has verified it" not in page.text
    assert found.status_code == 200
    assert len(net.asked) == 1  # The document is read again after an hour.
    row = await OAuthClient.objects.aget()
    assert (row.pk, row.type, row.get_scopes()) == (DOCUMENT, "public", ["mcp"])


async def test_a_document_is_read_again_and_may_change_the_redirect_uris(ada: User):
    async with internet({"/client.json": described()}) as net:
        await connect(ada)
        await OAuthClient.objects.aupdate(data={"cimd": True, "connected": True, "read_at": 0})
        net.pages["/client.json"] = described(redirect_uris=["http://127.0.0.1:4000/new"])
        page = await open_page(ada)

    row = await OAuthClient.objects.aget()
    assert "The program can’t be connected" in page.text
    assert row.get_redirect_uris() == ["http://127.0.0.1:4000/new"]
    assert row.data["connected"] is True


async def test_a_known_program_works_while_its_site_is_down(ada: User):
    async with internet({"/client.json": described()}) as net:
        await connect(ada)
        await OAuthClient.objects.aupdate(data={"cimd": True, "connected": True, "read_at": 0})
        net.pages["/client.json"] = answer(503)

        assert (await connect(ada)).status_code == 200


@each_row(
    "page",
    [
        described(client_id="https://files.example/other.json"),
        described(redirect_uris=[]),
        described(redirect_uris=["javascript:alert(1)"]),
        described(grant_types=["client_credentials"]),
        described(response_types=["token"]),
        described(client_name=5),
        described(scope=["mcp"]),
        ok(b"[]"),
        ok(b"{"),
        ok(b"\xff"),
        ok(b"[" * 5000),
        ok(b" " * 9000),
        flood,
        moved("/other.json"),
        answer(404),
    ],
)
async def test_documents_that_cannot_be_used_are_refused(page, ada: User):
    async with internet({"/client.json": page, "/other.json": described()}):
        shown = await open_page(ada)

    assert shown.status_code == 400
    assert "metadata can’t be loaded" in shown.text
    assert not await OAuthClient.objects.aexists()


@each_row(
    "program",
    [
        "http://files.example/client.json",
        "https://files.example",
        "https://files.example/",
        "https://files.example/a/../client.json",
        "https://files.example/client.json?a=b",
        "https://files.example/client.json#a",
        "https://user@files.example/client.json",
        "https://" + "a" * 100 + ".example/client.json",
        "https://[/client.json",
    ],
)
async def test_only_plain_urls_are_asked(program, ada: User):
    async with internet({"/client.json": described()}) as net:
        shown = await open_page(ada, program)

    assert "The program can’t be connected" in shown.text
    assert net.asked == []


@each_row(
    "host", ["127.0.0.1", "localhost", "10.0.0.5", "169.254.169.254", "[::1]", "inner.example"]
)
async def test_a_document_on_a_private_network_is_never_asked(host, settings):
    settings.PRIVATE_NETWORK_ALLOWLIST = ["127.0.0.1", "localhost"]
    async with internet() as net:
        net.name("inner.example", ["10.0.0.5"])
        with pytest.raises(EgressRefused):
            await documents.fetch_document(f"https://{host}:{net.secret}/client.json")

    assert not net.betrayed


async def test_documents_are_limited_by_user(ada: User, settings):
    settings.ACCOUNT_RATE_LIMITS = {**settings.ACCOUNT_RATE_LIMITS, "client_document": "1/m/user"}
    async with internet({"/client.json": answer(404)}) as net:
        await open_page(ada)
        page = await open_page(ada)

    assert len(net.asked) == 1
    assert "Too many attempts" in page.text


async def test_strangers_cannot_make_the_server_read_documents():
    @sync_to_async
    def visit() -> Any:
        from django.test import Client

        return Client().get("/oauth/authorize", query(DOCUMENT))

    async with internet({"/client.json": described()}) as net:
        page = await visit()

    assert (page.status_code, net.asked) == (302, [])
