"""The compaction of old runs."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone

from apps.live import events
from apps.live.events import StatusChanged
from apps.live.history import compaction
from apps.live.history.compaction import compact_old
from apps.live.history.packing import pack_object
from apps.live.history.sent_requests import requests_of, split_request
from apps.live.journal import journal
from apps.live.models import JournalEntry, KeptManifest, Run, RunStep, SentPart, SentRequestRow
from apps.live.step_ledger import read_steps
from tests.live.records import new_run, said

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

BODY = b'{"model":"m","messages":[{"role":"user","content":"%s"}],"stream":true}' % (
    b"Hello " * 200
)


def stored_run(*, days: int = 31, status: str = "done", digest: str = "d") -> Run:
    """Return a run that ended that many days ago, with three rows of events, a step and a request."""
    manifest, _ = KeptManifest.objects.get_or_create(digest=digest, defaults={"text": "{}"})
    ended = None if status == "waiting" else timezone.now() - timedelta(days=days)
    run = new_run(manifest=manifest, status=status, finished_at=ended)
    run.save(force_insert=True)
    journal.add(run.stream, run.pk, said("One ", "two "))
    journal.add(run.stream, run.pk, said("three"))
    journal.add(run.stream, run.pk, (StatusChanged("done"),), gap=journal.GAP)
    journal.add(run.stream, run.pk, said("four"))
    RunStep.objects.create(
        run=run, key="model-1", kind="model", policy="again", status="done", result={"x": "y" * 999}
    )
    members, parts = split_request(run.stream, BODY)
    SentRequestRow.objects.create(
        stream=run.stream, run=run.pk, application="demo", model="m", members=members
    )
    for (stream, part_digest), part in parts.items():
        SentPart.objects.create(stream=stream, digest=part_digest, text=part.text, size=part.size)
    return run


def shown(run: Run) -> dict[str, Any]:
    """Return what pages read of a run after each number that a viewer may have reached."""
    newest = journal.last_number(run.stream)
    starts = [*range(15), *range(newest - 6, newest + 1)]
    return {
        "run": joined(journal.read_run(run.pk)),
        "after": [
            [
                (number, event)
                for number, _, event in events.join_texts(journal.read(run.stream, after))
            ]
            for after in starts
        ],
        "steps": read_steps(run),
        "requests": [(row.members, dict(parts)) for row, parts in requests_of(run.pk)],
    }


def joined(told: list[Any]) -> list[Any]:
    return [event for _, _, event in events.join_texts((0, UUID(int=0), event) for event in told)]


def test_an_old_run_is_shown_as_before_and_takes_fewer_rows_and_bytes():
    run = stored_run()
    before, size = shown(run), SentPart.objects.get().text

    assert compact_old() == 1

    assert shown(run) == before
    assert [(row.first, row.last) for row in JournalEntry.objects.order_by("first")] == [
        (1, 13),
        (journal.GAP + 14, journal.GAP + 18),
    ]
    assert RunStep.objects.get().result.keys() == {"packed"}
    assert len(SentPart.objects.get().text) < len(size) / 10
    assert not KeptManifest.objects.exists()
    assert compact_old() == 0


def test_a_long_run_stays_in_rows_that_can_be_read_one_by_one(monkeypatch):
    monkeypatch.setattr(compaction, "LARGEST_SPAN", 10)
    run = stored_run()
    before = shown(run)

    compact_old()

    assert shown(run) == before
    assert JournalEntry.objects.count() == 3


@pytest.mark.parametrize("run", [{"days": 29}, {"status": "waiting"}], ids=["young", "open"])
def test_other_runs_stay_as_they_are(run: dict[str, Any]):
    stored_run(**run)

    assert compact_old() == 0
    assert JournalEntry.objects.count() == 4
    assert KeptManifest.objects.exists()


def test_a_manifest_stays_while_an_open_run_needs_it():
    stored_run()
    stored_run(days=1)

    assert compact_old() == 1
    assert KeptManifest.hold("d")
    assert not KeptManifest.hold("another")


def test_the_next_request_of_a_conversation_finds_the_compressed_parts():
    run = stored_run()
    compact_old()
    members, _ = split_request(run.stream, BODY)
    later = new_run(stream=run.stream)
    SentRequestRow.objects.create(
        stream=run.stream, run=later.pk, application="demo", model="m", members=members
    )

    [(_, parts)] = requests_of(later.pk)

    assert [part.text for part in parts.values()] == [BODY[25:-16].decode()]


def test_texts_of_all_kinds_are_read_as_they_were():
    step = RunStep(result={"text": "Grüße 🦊" * 100, "packed": [1, None]})
    before = step.result
    step.result = pack_object(before)

    assert (step.read_result(), step.result.keys()) == (before, {"packed"})
    assert pack_object({"short": 1}) == {"short": 1}
