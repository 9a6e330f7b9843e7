"""An application's tool searches its attached files, with the rights of the caller."""

from __future__ import annotations

from typing import Any

import pytest
from channels.db import database_sync_to_async

from apps.accounts.caller import Caller
from apps.agent.events import AttachmentAdded, Event
from apps.agent.messages import Attachment, ModelMessage
from apps.capabilities.documents.attached_files import OWNER
from apps.capabilities.documents.cache import cache
from apps.capabilities.documents.document_vectors import embedding_queue
from apps.catalog.resolve import resolve_application
from apps.runs.requests import RunRequest
from apps.runs.run import run_application
from apps.workspace.embeddings.port import Embeddings
from apps.workspace.local.corpora.corpus import CorpusDocument, compare_soon
from apps.workspace.local.files import files
from apps.workspace.local.models import PUBLIC
from tests.capabilities.documents.agents import Desk
from tests.capabilities.manifests import stage_text
from tests.catalog.corpora.library import GUIDES, Process, attach, share
from tests.catalog.rows import make_operator
from tests.documents.samples import pdf
from tests.fakes import FakeWorkspace, ScriptedModel, calling, saying
from tests.workspace.embeddings.hashed import HashedEmbedder


class Synonyms(HashedEmbedder):
    """An embedder for which "departure" and "check-out" are synonyms."""

    async def embed(self, texts: Any) -> Embeddings:
        return await super().embed([t.replace("departure", "check-out") for t in texts])


@pytest.fixture
def desk(process: Process) -> Desk:
    process.embedder = Synonyms()
    return Desk(contexts=[GUIDES], slug="travel", embedder=Synonyms())


async def index(process: Process) -> None:
    await process.indexer.run_pass()


async def share_and_attach(*contexts: Any, **named: str | bytes) -> None:
    for name, content in named.items():
        await database_sync_to_async(share)(f"{name}.txt", content)
    await database_sync_to_async(attach)(*contexts)


async def test_without_a_file_all_attached_ones_are_searched_and_cited(
    desk: Desk, process: Process
):
    await share_and_attach(dogs="Dogs stay free.", late="A late check-out costs 20 euros.")
    await index(process)
    events: list[Event] = []

    async with desk.run() as run:
        result = await run.ask("What does a late check-out cost?", emit=events.append)

    assert result.propagated == (
        Attachment(
            "text/plain",
            "[1] late.txt",
            data="A late check-out costs 20 euros.",
            reference_type="text/plain",
            reference_url="files/public/guides/late.txt",
        ),
    )
    assert desk.reads == []
    assert "- Attached files: 2 searched by words and by meaning\n" in stage_text(events)


async def test_words_are_searched_before_there_are_vectors_and_meaning_too_afterwards(
    desk: Desk, process: Process
):
    await share_and_attach(late="check-out check-out check-out", dogs="Dogs stay free.")
    await index(process)
    await database_sync_to_async(CorpusDocument.objects.update)(
        state="embedding", vector_count=0, model=""
    )
    async with desk.run() as run:
        by_words = await run.ask("check-out")
        before = await run.ask("departure")
    await index(process)

    async with desk.run() as run:
        after = await run.ask("departure")

    assert [one.title for one in by_words.propagated] == ["[1] late.txt"]
    assert before.content == "Nothing about this was found in the attached files."
    assert [one.title for one in after.propagated] == ["[1] late.txt"]
    assert embedding_queue().tasks == {}


async def test_a_named_file_is_not_read_again_unless_it_has_changed(desk: Desk, process: Process):
    await share_and_attach(late="A late check-out costs 20 euros.", dogs="Dogs stay free.")
    await index(process)
    url = "files/public/guides/late.txt"
    async with desk.run() as run:
        text = await run.read(url)
        await run.ask("late check-out, dogs", url)
        untouched = list(desk.reads)
    await database_sync_to_async(share)("late.txt", "A late check-out costs 30 euros.")

    async with desk.run() as run:
        changed = await run.ask("late check-out", url)
        attached = await run.ask("late check-out, dogs")

    assert text == "A late check-out costs 20 euros."
    assert "Dogs" not in desk.asked[0]
    assert untouched == []
    assert changed.propagated[0].data == "A late check-out costs 30 euros."
    assert [one.title for one in attached.propagated] == ["[2] dogs.txt"]


async def test_the_owner_s_files_are_found_by_the_owner_alone(desk: Desk, process: Process):
    owner = await database_sync_to_async(make_operator)()
    bucket = f"user-{owner.pk}"
    await database_sync_to_async(files.keep)(bucket, "own.txt", b"The safe is 1234.", "text/plain")
    await database_sync_to_async(share)("dogs.txt", "The safe dogs.")
    own = {"type": "file", "url": f"files/{bucket}/own.txt"}
    await database_sync_to_async(attach)(GUIDES, own, owner=owner)
    await index(process)
    desk.contexts = [GUIDES, own]

    found = {}
    for who in (bucket, "user-99", ""):
        async with desk.run(Caller(who)) as run:
            await run.ask("safe")
        found[who] = {name for name in ("own.txt", "dogs.txt") if name in desk.asked[-1]}

    assert found == {bucket: {"own.txt", "dogs.txt"}, "user-99": {"dogs.txt"}, "": {"dogs.txt"}}


async def test_what_a_manifest_names_no_more_is_not_searched_before_anybody_has_looked(
    desk: Desk, process: Process
):
    await share_and_attach(late="late check-out", dogs="late dogs")
    await index(process)
    desk.contexts = [{"type": "file", "url": "files/public/guides/dogs.txt"}]

    async with desk.run() as run:
        named = await run.ask("late")
        await database_sync_to_async(files.delete)(PUBLIC, "files/public/guides/dogs.txt")
        problem = await run.refused(request="late")

    assert [one.title for one in named.propagated] == ["[1] dogs.txt"]
    assert "pass the file that contains the answer. Attached files: 1 being prepared." in problem


async def test_the_tool_is_another_one_only_where_something_is_attached(
    desk: Desk, process: Process
):
    described = {}
    for name, contexts, slug in (
        ("attached", [GUIDES], "travel"),
        ("no files", [], "travel"),
        ("kept by Core", [GUIDES], ""),
    ):
        desk.contexts, desk.slug = contexts, slug
        async with desk.run(source_names=True) as run:
            spec = next(tool.spec for tool in run.tools if tool.spec.name == "rag_search")
            described[name] = spec.description, spec.parameters["required"]

    attached, without, foreign = described.values()
    assert without == foreign
    assert attached == (
        f"{without[0]} Without a URL it answers from all files that the operator of this "
        "application made available. Do that unless you know which file has the answer.",
        ["query"],
    )
    assert without[1] == ["query", "file_urls"]


async def test_the_index_is_made_once_for_a_version(desk: Desk, process: Process):
    await share_and_attach(dogs="Dogs stay free.")
    await index(process)
    async with desk.run() as run:
        await run.ask("dogs")
    first = [kept[0] for key, kept in cache.entries.items() if key.owner == OWNER]

    async with desk.run(Caller("user-2")) as run:
        await run.ask("dogs")
    second = [kept[0] for key, kept in cache.entries.items() if key.owner == OWNER]
    await database_sync_to_async(share)("dogs.txt", "Dogs pay.")
    await database_sync_to_async(compare_soon)()
    await index(process)
    async with desk.run() as run:
        changed = await run.ask("dogs")

    assert len(first) == 1
    assert first[0] is second[0]
    assert changed.propagated[0].data == "Dogs pay."


async def test_a_whole_run_answers_from_what_is_attached(process: Process):
    await database_sync_to_async(share)("hotel.pdf", pdf("Dogs stay free."), "application/pdf")
    await share_and_attach()
    await index(process)
    model = ScriptedModel(
        calling(("c1", "rag_tool", {"request": "Do dogs pay?"})),
        saying("Dogs stay free [1]."),
        saying("They do not [1]."),
    )
    workspace = FakeWorkspace(Caller("user-7"))
    workspace.models = {"demo-model": model}
    events: list[Event] = []

    asked = RunRequest((ModelMessage("user", "Do dogs pay?"),))
    await run_application(
        await resolve_application("travel"), asked, workspace, Caller("user-7"), events.append
    )

    (source,) = (one.attachment for one in events if isinstance(one, AttachmentAdded))
    assert (source.title, source.data) == ("[1] hotel.pdf, page 1", "Dogs stay free.")
    assert source.reference_url == "files/public/guides/hotel.pdf#page=1"
