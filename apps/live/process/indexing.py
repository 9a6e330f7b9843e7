"""Indexes the attached files of applications, and records the cost."""

from functools import partial

from django.db import models, transaction

from apps.catalog.corpora.indexer import Indexer
from apps.catalog.models import Application
from apps.insights.meter import server_meter
from apps.live.hub import HUB
from apps.process_state import on_reset
from apps.tasks.chore_task import enqueue_chore

INDEX = "apps.live.process.indexing.index"

INDEXER = Indexer(meter_of=partial(server_meter, HUB.summaries.queue_call))
on_reset(INDEXER.applications.kept.clear)


async def index() -> None:
    await INDEXER.run_pass()


def enqueue_indexing() -> None:
    """Enqueue the indexing job as soon as the current transaction commits."""
    transaction.on_commit(partial(enqueue_chore, INDEX))


def note_change(model: type[models.Model]) -> None:
    if model is Application:
        enqueue_indexing()
