"""Tokens of users are refreshed by one process, and deleted when they are no longer valid."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.db import connection
from django.utils import timezone
from pytest_django.fixtures import Settings
from starlette.responses import JSONResponse

from apps.errors import ToolError
from apps.manifest.secrets import Credential
from apps.manifest.toolsets.authorizations import OAuthAuthorization
from apps.workspace.local.models import Secret, ToolAccount
from apps.workspace.oauth import accounts, sign_ins
from apps.workspace.oauth.accounts import RequiredAccount, access_token
from tests.servers.sign_in_service import (
    FIXED_CLIENT,
    FIXED_SECRET,
    Behind,
    SignInService,
    serve_sign_in,
)

BACK = "http://testserver/connect/callback/"
pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def served() -> Iterator[Behind]:
    with serve_sign_in() as running:
        yield running


@pytest.fixture
def service(settings: Settings, served: Behind) -> SignInService:
    settings.PRIVATE_NETWORK_ALLOWLIST = ["127.0.0.1"]
    served.service = SignInService(served.service.url)
    served.service.clients[FIXED_CLIENT] = {"client_secret": FIXED_SECRET}
    served.service.refresh_tokens["refresh-0"] = ""
    return served.service


def wanted_at(service: SignInService, **rest: Any) -> RequiredAccount:
    how = OAuthAuthorization(
        client_id=FIXED_CLIENT,
        client_secret=Credential(FIXED_SECRET),
        authorization_url=f"{service.url}/authorize",
        token_url=f"{service.url}/token",
    )
    return RequiredAccount(service.url, "profile", how.model_copy(update=rest))


async def connected(service: SignInService, seconds: float, **rest: Any) -> ToolAccount:
    """Return an account with a token that expires in that many seconds."""
    row = await accounts.ask_for(wanted_at(service, **rest), "user-7")
    now = timezone.now()
    row.access_token, row.refresh_token = "access-0", "refresh-0"
    row.expires_at, row.connected_at = now + timedelta(seconds=seconds), now
    await row.asave()
    return row


async def test_a_token_that_lasts_is_used_as_it_is(service: SignInService):
    row = await connected(service, 120)

    assert (await access_token(row.pk), service.asked) == ("access-0", [])


@pytest.mark.postgres
async def test_of_all_who_need_a_fresh_token_one_asks_for_it(service: SignInService):
    service.refresh_delay = 0.3
    row = await connected(service, -1)

    found = await asyncio.gather(*(access_token(row.pk) for _ in range(5)))

    assert (len(set(found)), service.refreshed) == (1, 1)
    await row.arefresh_from_db()
    assert (row.access_token, row.refresh_token) == (found[0], next(iter(service.refresh_tokens)))
    assert row.refreshing_until is None


async def test_ahead_of_expiry_the_others_go_on_with_the_token_they_have(service: SignInService):
    service.refresh_delay = 0.3
    row = await connected(service, 30)

    found = await asyncio.gather(*(access_token(row.pk) for _ in range(3)))

    assert (sorted(found)[:2], service.refreshed) == (["access-0", "access-0"], 1)


async def test_a_process_that_died_while_it_refreshed_holds_nobody_up(service: SignInService):
    row = await connected(service, -1)
    await ToolAccount.objects.aupdate(refreshing_until=timezone.now())

    assert await access_token(row.pk) in service.tokens


async def test_a_caller_who_leaves_loses_no_token(service: SignInService):
    service.refresh_delay = 0.2
    row = await connected(service, -1)
    leaving = asyncio.create_task(access_token(row.pk))
    while not service.forms:
        await asyncio.sleep(0.01)
    leaving.cancel()

    assert await access_token(row.pk) in service.tokens
    assert service.refreshed == 1


async def test_a_refused_token_is_replaced(service: SignInService):
    row = await connected(service, 3600)

    token = await access_token(row.pk, refused="access-0")

    assert (token in service.tokens, service.refreshed) == (True, 1)


async def test_a_refresh_that_is_refused_deletes_the_tokens(service: SignInService):
    service.refresh_tokens.clear()
    row = await connected(service, -1)

    assert await access_token(row.pk) == ""
    await row.arefresh_from_db()
    assert (row.access_token, row.refresh_token, row.connected_at) == ("", "", None)


async def test_a_service_that_is_down_costs_nobody_their_sign_in(service: SignInService):
    service.answers["/token"] = JSONResponse({}, 503)
    near, over = await connected(service, 30), "access-0"

    assert await access_token(near.pk) == over
    await ToolAccount.objects.aupdate(expires_at=timezone.now())
    with pytest.raises(ToolError, match="returned no token \\(503\\)"):
        await access_token(near.pk)
    del service.answers["/token"]
    assert await access_token(near.pk) in service.tokens


async def test_without_a_refresh_token_an_expired_one_ends_the_sign_in(service: SignInService):
    row = await connected(service, -1)
    await ToolAccount.objects.aupdate(refresh_token="")

    assert (await access_token(row.pk), service.asked) == ("", [])


async def test_who_has_to_allow_more_is_asked_again_for_all_of_it(service: SignInService):
    await connected(service, 3600, scope="read")
    more = wanted_at(service, scope="write")

    before = await accounts.find_account(wanted_at(service, scope="read"), "user-7")
    assert (before is not None, await accounts.find_account(more, "user-7")) == (True, None)
    row = await accounts.ask_for(more, "user-7")
    await row.arefresh_from_db()
    assert (row.service["scope"], row.connected_at) == ("read write", None)


LACKING = 'Bearer error="insufficient_scope", scope="write"'


async def test_a_scope_that_the_server_lacks_is_asked_for_once(service: SignInService):
    await connected(service, 3600, scope="read")
    wanted = replace(wanted_at(service, scope="read"), challenge=LACKING)

    row = await accounts.ask_for(wanted, "user-7")

    assert row.service["scope"] == "read write"
    await ToolAccount.objects.aupdate(access_token="access-1", connected_at=timezone.now())
    with pytest.raises(ToolError, match="wasn’t granted when you signed in: write"):
        await accounts.ask_for(wanted, "user-7")
    await row.arefresh_from_db()
    assert row.access_token == "access-1"


async def test_a_server_that_moved_to_another_service_gets_nothing_of_the_old_one(
    service: SignInService,
):
    wanted = RequiredAccount(service.mcp_url, "notes", OAuthAuthorization())
    row = await accounts.ask_for(wanted, "user-7")
    await sign_ins.begin(row.pk, "user-7", BACK)
    await row.arefresh_from_db()
    row.service = {**row.service, "issuer": "https://old.example.com", "scope": "old"}
    row.access_token, row.connected_at = "access-0", timezone.now()
    await row.asave()

    moved = await accounts.ask_for(wanted, "user-7")
    await moved.arefresh_from_db()

    assert (moved.access_token, moved.state) == ("", None)
    assert (moved.service["issuer"], moved.service["scope"]) == (service.url, "notes.read")


@pytest.mark.parametrize(
    ("told", "is_described"),
    [
        ({"client_id_metadata_document_supported": True}, True),
        ({"client_id_metadata_document_supported": False}, False),
        (
            {
                "client_id_metadata_document_supported": True,
                "token_endpoint_auth_methods_supported": ["client_secret_post"],
            },
            False,
        ),
    ],
)
async def test_a_service_that_reads_our_metadata_needs_no_registration(
    service: SignInService, settings: Settings, told: dict[str, Any], is_described: bool
):
    settings.PUBLIC_URL, settings.HTTPS = "https://apps.example.com", True
    service.metadata = told
    row = await accounts.ask_for(
        RequiredAccount(service.mcp_url, "notes", OAuthAuthorization()), "user-7"
    )

    await sign_ins.begin(row.pk, "user-7", "https://apps.example.com/connect/callback/")

    await row.arefresh_from_db()
    described = row.client_id == "https://apps.example.com/client-metadata.json"
    assert (described, "POST /register" in service.asked) == (is_described, not is_described)


@pytest.mark.postgres
async def test_accounts_are_of_one_person_one_server_and_one_client(service: SignInService):
    await connected(service, 3600)
    wanted = wanted_at(service)
    others = [
        (wanted, "user-8"),
        (wanted, ""),
        (RequiredAccount(f"{service.url}/other", "", wanted.how), "user-7"),
        (wanted_at(service, client_id="another"), "user-7"),
        (wanted_at(service, token_url="https://id.example.com/token"), "user-7"),
    ]

    assert await accounts.find_account(wanted, "user-7") is not None
    assert [await accounts.find_account(*other) for other in others] == [None] * 5


async def test_the_secret_of_a_client_goes_only_where_it_may(service: SignInService):
    secret = Secret(name="oauth", value=FIXED_SECRET, servers=["https://id.example.com"])
    await secret.asave()
    row = await connected(service, -1, client_secret=Credential(secret="oauth"))

    with pytest.raises(ToolError, match="may not be sent to"):
        await access_token(row.pk)
    secret.servers = [service.url]
    await secret.asave()
    assert await access_token(row.pk) in service.tokens
    assert (await ToolAccount.objects.aget()).client_secret == ""


async def test_tokens_are_encrypted_and_in_no_log(service: SignInService, caplog: Any):
    with caplog.at_level(logging.DEBUG):
        row = await connected(service, -1)
        token = await access_token(row.pk)

    def stored() -> str:
        with connection.cursor() as cursor:
            cursor.execute("SELECT * FROM workspace_toolaccount")
            return str(cursor.fetchall())

    refresh = next(iter(service.refresh_tokens))
    seen = await database_sync_to_async(stored)() + caplog.text + repr(row)
    found = [text for text in (token, refresh, "access-0", FIXED_SECRET) if text in seen]
    assert found == []
