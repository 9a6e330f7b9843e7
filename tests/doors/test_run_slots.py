"""An answer to a program ends early if its key is revoked or its user is deleted."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.contrib.auth.models import User
from django.db import OperationalError

from apps.accounts.authentication import find_holder_of
from apps.accounts.models import ApiKey
from tests.gateway.scripts import (
    PATIENCE,
    Client,
    ScriptedModel,
    add_application,
    asking,
    ends,
    question,
    says,
)

pytestmark = pytest.mark.django_db


async def make_key() -> tuple[ApiKey, str]:
    row, key = await database_sync_to_async(ApiKey.objects.create_key)(
        name="n", user=await User.objects.acreate(username="ada")
    )
    return row, key


async def asked(model: ScriptedModel, key: str, *, stream: bool) -> Client:
    client = asking(await add_application(), model, headers={"api-key": key})
    await client.send(json.dumps(question(stream=stream)).encode())
    await asyncio.wait_for(model.was_asked.wait(), PATIENCE)
    return client


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("gone", ["revoked", "closed"])
async def test_an_answer_ends_with_its_key(settings: Any, gone: str, stream: bool):
    settings.HEARTBEAT_SECONDS = 0.05
    row, key = await make_key()
    model = ScriptedModel([says("Hel"), asyncio.Event()])
    client = await asked(model, key, stream=stream)

    if gone == "revoked":
        await ApiKey.objects.filter(pk=row.pk).aupdate(revoked=True)
    else:
        await User.objects.aupdate(is_active=False)
    answer = await client.read()

    assert model.was_cancelled.is_set()
    assert b"Send a valid API key" in b"".join(answer.pieces)
    assert answer.status == (200 if stream else 401)


async def test_an_answer_goes_on_with_its_key_and_while_the_database_is_away(
    settings: Any, monkeypatch: pytest.MonkeyPatch
):
    settings.HEARTBEAT_SECONDS = 0.01
    _, key = await make_key()
    looks, rest = [], asyncio.Event()
    loop = asyncio.get_running_loop()

    def look(prefix: str) -> Any:
        looks.append(prefix)
        if len(looks) == 1:
            raise OperationalError("away")
        if len(looks) == 3:
            loop.call_soon_threadsafe(rest.set)
        return find_holder_of(prefix)

    monkeypatch.setattr("apps.doors.run_slots.find_holder_of", look)
    more = asyncio.Event()
    model = ScriptedModel([says("Hel"), more, says("lo"), ends()])
    client = await asked(model, key, stream=False)
    await asyncio.wait_for(rest.wait(), PATIENCE)
    more.set()

    answer = await client.read()

    assert answer.json()["choices"][0]["message"]["content"] == "Hello"
