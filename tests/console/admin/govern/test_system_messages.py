"""Operators send messages to all connected users."""

import pytest
from channels.layers import get_channel_layer
from django.contrib.auth import get_user_model
from django.test import AsyncClient

from apps.catalog.models import SystemMessage
from apps.live.journal.notifications import EVERYBODY, group

pytestmark = pytest.mark.django_db


async def test_a_message_is_announced_when_it_is_saved(monkeypatch):
    monkeypatch.setattr("django.db.transaction.on_commit", lambda work: work())
    layer = get_channel_layer()
    channel = await layer.new_channel()
    await layer.group_add(group(EVERYBODY), channel)
    client = AsyncClient()
    await client.aforce_login(
        await get_user_model().objects.acreate_superuser(username="grace", password="x")
    )

    answer = await client.post(
        "/admin/catalog/systemmessage/add/",
        {"text": "The site is away at noon.", "level": "warning", "until_0": "", "until_1": ""},
    )
    told = await layer.receive(channel)

    assert answer.status_code == 302
    assert told == {"type": "stream.grew"}
    message = await SystemMessage.objects.aget()
    assert (message.text, message.level) == ("The site is away at noon.", "warning")
