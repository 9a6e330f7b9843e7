"""The question of a run is asked in the draft, with all previous messages."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from apps.agent.messages import ModelMessage
from apps.agent.meter import SentRequest
from apps.agent.steps.results import RecordedOpening, write_record
from apps.insights.meter import KeptRequest
from apps.live.history import sent_requests
from apps.live.models import Run, RunStep
from apps.live.run_summary import RunSummary
from tests.catalog.rows import make_application, make_deployment
from tests.console.studio.asking import address

pytestmark = pytest.mark.django_db

TURNS: list[dict[str, Any]] = [
    {"role": "user", "content": "Where to?", "name": "Ada"},
    {"role": "assistant", "content": "To Oslo."},
    {"role": "user", "content": "And then?", "name": "Grace"},
]


def summary(**fields: object) -> RunSummary:
    row = {"application": "travel", "bucket": "key-1", "status": "done", **fields}
    return RunSummary.objects.create(**row)


def replayed(client: Client, run: RunSummary) -> Any:
    row = make_application("travel")
    make_deployment()
    answer = client.get(address(row), {"replay": str(run.pk)})
    assert answer.status_code == 200
    return answer.context["data"]["replay"]


def test_speakers_keep_their_roles_and_names_in_a_conversation(client, operator):
    run = Run.objects.create(
        stream=uuid4(), request=uuid4(), application="travel", bucket="user-1", status="done"
    )
    said = [ModelMessage(one["role"], one["content"], name=one.get("name", "")) for one in TURNS]
    opening = write_record(RecordedOpening((ModelMessage("system", "Be brief."), *said), {}))
    RunStep.objects.create(run=run, key="open", kind="open", status="done", result=opening)

    assert replayed(client, summary(id=run.pk, door="page")) == TURNS


def test_and_in_the_request_of_a_program(client, operator):
    run = summary(door="gateway")
    body = b"""{"model": "m", "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Where to?", "name": "Ada"},
        {"role": "assistant", "content": "To Oslo."},
        {"role": "user", "content": [{"type": "text", "text": "And then?"}], "name": "Grace"}
    ]}"""
    request = SentRequest("m", body, (), frozenset())
    sent_requests.write([KeptRequest(run.pk, run.pk, "travel", False, request, 1.0)])

    assert replayed(client, run) == TURNS
