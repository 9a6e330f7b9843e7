"""While the bucket's service is down or unresponsive, requests quickly return 503."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest
from channels.db import database_sync_to_async

from apps.live.process import health
from apps.outages import STORAGE, outage_of
from apps.workspace.local import installation
from apps.workspace.local.files import bucket_storage, file_threads, files
from apps.workspace.local.files.storage import storage
from apps.workspace.local.models import StoredFile
from tests.chat.pages.test_views import add_application, visiting
from tests.conversations.files.test_files import send
from tests.gateway.test_files import program

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("storage")]

PATIENCE = 10.0


@pytest.fixture(params=["dead", "silent"])
def begin_outage(request: Any, settings: Any, monkeypatch: Any) -> Iterator[Callable[[], None]]:
    """Let a port refuse connections, or accept them without a response, from then on."""
    monkeypatch.setattr(bucket_storage, "RETRIES", 0)
    monkeypatch.setattr(bucket_storage, "READ_SECONDS", 0.2)
    settings.FILES_ACCESS_KEY_ID = settings.FILES_SECRET_ACCESS_KEY = "any"
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        endpoint = f"http://127.0.0.1:{listening.getsockname()[1]}"
        if request.param == "dead":
            listening.close()
        yield lambda: setattr(
            settings, "FILES_URL", f"s3://files?endpoint={endpoint}&region=us-east-1"
        )


def test_each_call_fails_as_a_broken_disk_does(begin_outage):
    begin_outage()
    files = storage()
    calls = (
        lambda: files.put("ab/one", [b"x"]),
        lambda: files.open("ab/one").__enter__(),
        lambda: files.exists("ab/one"),
        lambda: files.delete("ab/one"),
        lambda: list(files.entries()),
    )

    for call in calls:
        begun = time.monotonic()
        with pytest.raises(OSError, match="Error performing") as failed:
            call()
        assert outage_of(failed.value) is STORAGE
        assert time.monotonic() - begun < PATIENCE


async def test_programs_are_asked_to_come_again(begin_outage):
    mine = await program()
    await mine.put("a.txt")
    begin_outage()

    answers = [await mine.put("b.txt"), await mine.get("a.txt")]

    assert [(one.status, one.headers["retry-after"]) for one in answers] == [(503, "1")] * 2
    assert [one.json()["error"]["code"] for one in answers] == ["storage_unavailable"] * 2
    assert [row.name async for row in StoredFile.objects.all()] == ["a.txt"]


def test_the_page_is_asked_to_come_again(begin_outage):
    application, client = add_application(), visiting()
    client.raise_request_exception = False
    url = send(client, application.slug)[1]["url"]
    begin_outage()

    status, _ = send(client, application.slug)
    answer = client.get(f"/{url}")

    assert (status, answer.status_code, answer.headers["Retry-After"]) == (503, 503, "1")
    assert StoredFile.objects.count() == 1


def test_a_file_can_be_deleted_and_its_bytes_stay_for_the_clean_up(begin_outage, caplog):
    path = files.keep("user-1", "a.txt", b"x", "text/plain").path
    begin_outage()

    files.delete("user-1", path)

    assert not StoredFile.objects.exists()
    assert "Failed to delete unused content from storage" in caplog.text


async def test_readiness_names_the_outage(begin_outage):
    await database_sync_to_async(installation.register_process)()
    begin_outage()

    found = await health.troubles()

    assert found["installation"].startswith(
        "The stored files belong to another installation: installation.id cannot be read (OSError)."
    )


async def test_probes_share_one_look_at_the_storage(monkeypatch):
    looks: list[str] = []
    answering = threading.Event()

    def look() -> str:
        looks.append("")
        assert answering.wait(PATIENCE)
        return ""

    monkeypatch.setattr(health, "shared_problem", look)
    monkeypatch.setattr(health, "on_file_thread", asyncio.to_thread)
    monkeypatch.setattr(health, "ANSWER_SECONDS", 0.1)

    waiting = [await health.trouble("installation", health.installation_is_shared) for _ in "123"]
    answering.set()
    monkeypatch.setattr(health, "ANSWER_SECONDS", PATIENCE)
    later = [await health.trouble("installation", health.installation_is_shared) for _ in "123"]

    assert (waiting, later) == (["No response within 0.1 seconds."] * 3, [""] * 3)
    assert len(looks) == 1


async def test_a_storage_that_does_not_answer_leaves_the_threads_of_the_database_free(monkeypatch):
    monkeypatch.setattr(file_threads, "_threads", None)
    file_threads.start()
    answering = threading.Event()

    waiting = asyncio.ensure_future(file_threads.on_file_thread(answering.wait, PATIENCE))
    counted = await asyncio.wait_for(StoredFile.objects.acount(), PATIENCE)
    answering.set()

    assert (counted, await waiting) == (0, True)
