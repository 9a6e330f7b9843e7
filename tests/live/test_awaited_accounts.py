"""Unfinished sign-ins are deleted, except those that a run waits for."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from apps.live.interactions import delete_unfinished_accounts
from apps.live.models import Interaction, Run
from apps.workspace.local.tools.tool_accounts import UNFINISHED, ToolAccount

pytestmark = pytest.mark.django_db


def test_an_unfinished_sign_in_is_deleted_when_it_is_old_and_no_run_waits_for_it():
    old = timezone.now() - UNFINISHED - timedelta(minutes=1)
    begun = {"bucket": "user-1", "asked_at": old}
    waited_for = ToolAccount.objects.create(server="https://a.example", **begun)
    ToolAccount.objects.create(server="https://b.example", **begun)
    answered = ToolAccount.objects.create(server="https://c.example", **begun)
    ToolAccount.objects.create(server="https://d.example", connected_at=old, **begun)
    ToolAccount.objects.create(server="https://e.example", bucket="user-1")
    run = Run.objects.create(stream=uuid4(), request=uuid4(), application="a", bucket="user-1")
    for account, answer in ((waited_for, None), (answered, {"outcome": "skipped"})):
        card = {"title": "Connect", "account": str(account.pk)}
        given = {"key": f"t:{account.pk}", "kind": "sign_in", "asked": card, "answer": answer}
        Interaction.objects.create(run=run, **given)

    assert delete_unfinished_accounts() == 2
    servers = ToolAccount.objects.order_by("server").values_list("server", flat=True)
    assert list(servers) == ["https://a.example", "https://d.example", "https://e.example"]
