"""Stores users' lasting decisions about tool calls: always allow, or always ask."""

from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Any
from uuid import UUID

import msgspec
from django.db import transaction
from django.db.models import F, Q

from apps.agent.ledger import Consent as Mode
from apps.agent.steps.results import read_reply
from apps.catalog.models import Application
from apps.live.models import ALL_TOOLS, LONGEST_TOOL_NAME, Consent, Interaction, Run, RunStep

LOOKED_AT = 200
"""`tools_called` reads this many of a user's newest model calls."""


def read_consents(run: Run) -> dict[str, Mode]:
    """Return the user's decisions by tool name. Decisions for the conversation override decisions
    for the application.
    """
    rows = Consent.objects.filter(bucket=run.bucket, application=run.application_pk or 0)
    rows = rows.filter(Q(stream=None) | Q(stream=run.stream))
    nearest_last = rows.order_by(F("stream").asc(nulls_first=True))
    return dict(nearest_last.values_list("tool", "mode"))  # type: ignore[arg-type]


def store_consent(run: Run, question: Interaction, answer: Mapping[str, Any]) -> None:
    """Store a consent if the user chose *Don't ask again* and the approval card offered this
    option.
    """
    scope, tool = answer.get("always"), question.asked.get("name")
    if answer.get("outcome") != "approved" or scope not in question.asked.get("always", ()):
        return
    if not isinstance(tool, str) or not tool or len(tool) > LONGEST_TOOL_NAME:
        return
    application = Application.objects.filter(pk=run.application_pk or 0).first()
    if application is None:
        return  # The conversation was deleted in the meantime.
    Consent.objects.update_or_create(
        bucket=run.bucket,
        application=application,
        stream=run.stream if scope == "conversation" else None,
        tool=tool,
        defaults={"mode": "always"},
    )


def forget_stream(stream: UUID) -> None:
    Consent.objects.filter(stream=stream).delete()


@transaction.atomic
def ask_each_time(bucket: str, application: int, tool: str) -> None:
    """Require approval for each call to the tool, and delete the user's earlier consents for it.
    `ALL_TOOLS` means all tools of the application.
    """
    rows = Consent.objects.filter(bucket=bucket, application=application)
    spared = rows.filter(mode="always")
    (spared if tool == ALL_TOOLS else spared.filter(tool=tool)).delete()
    Consent.objects.update_or_create(
        bucket=bucket,
        application_id=application,
        stream=None,
        tool=tool,
        defaults={"mode": "confirm"},
    )


def tools_called(bucket: str) -> dict[int, list[str]]:
    """Return the names of the tools that the user's newest runs called, grouped by the
    application's primary key.
    """
    steps = RunStep.objects.filter(run__bucket=bucket, kind="model", status="done")
    steps = steps.filter(run__application_pk__isnull=False)
    newest = steps.order_by("-begun_at").values_list("run__application_pk", "result")
    found: dict[int, set[str]] = {}
    for application, result in newest[:LOOKED_AT]:
        with suppress(msgspec.ValidationError):  # Another version of the code may have written it.
            calls = read_reply(result).reply.message.tool_calls
            found.setdefault(application or 0, set()).update(call.name for call in calls)
    return {application: sorted(names) for application, names in found.items()}


def forget_tools(tools: Collection[str]) -> None:
    """Delete the consents for these tools in all applications. The consents for a nested
    application's tools belong to the outermost application.
    """
    Consent.objects.filter(tool__in=tools).delete()


def hand_over(bucket: str, to: str) -> None:
    """Move a visitor's decisions about conversations to the account `to`, after the visitor has
    signed in.

    Delete the decisions about whole applications, because several users can share a browser.
    """
    mine = Consent.objects.filter(bucket=bucket)
    mine.filter(stream=None).delete()
    mine.update(bucket=to)
