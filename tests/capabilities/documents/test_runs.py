"""An application answers from a document in whole runs, in both workspaces."""

from collections.abc import Iterator

import pytest

from apps.agent.events import AttachmentAdded, ModelUsage, RunFinished
from apps.agent.messages import Attachment, ModelMessage, attachment_to_dict
from apps.capabilities.documents.cache import cache
from apps.workspace.port import Workspace
from tests.capabilities.documents.agents import HOTEL, embedded
from tests.capabilities.files.test_runs import Scripted
from tests.capabilities.manifests import manifest
from tests.capabilities.runs import application, events_in
from tests.documents.samples import pdf
from tests.fakes import ScriptedModel, calling, saying
from tests.workspace.dial.callers import called
from tests.workspace.embeddings.hashed import HashedEmbedder


class WithVectors(Scripted):
    async def embedder(self, deployment_id: str | None) -> HashedEmbedder:
        return HashedEmbedder()


@pytest.fixture(params=["local", "dial"])
def workspace(request: pytest.FixtureRequest) -> Iterator[Workspace]:
    if request.param == "local":
        yield request.getfixturevalue("desk").workspace()
        return
    cache.clear()
    with called(request.getfixturevalue("core")) as inside:
        yield inside
    cache.clear()


async def test_sources_stand_beside_the_answer_and_the_inner_model_is_counted(workspace):
    path = (await workspace.files.keep("hotel.pdf", pdf("Dogs stay free."), "application/pdf")).path
    model = ScriptedModel(
        calling(("c1", "rag_tool", {"request": "Do dogs pay?", "file_url": path})),
        saying("Dogs stay free [1].", prompt=5, completion=2),
        saying("They do not [1].", prompt=7, completion=3),
    )
    features = {"documents": {"enabled": True}, "timestamp": None}
    app = application(manifest(features=features))

    question = ModelMessage("user", "Do dogs pay?")
    events = await events_in(WithVectors(workspace, model), app, question)
    await embedded()

    source = Attachment(
        "text/plain",
        "[1] hotel.pdf, page 1",
        data="Dogs stay free.",
        reference_type="application/pdf",
        reference_url=f"{path}#page=1",
    )
    assert [one.attachment for one in events if isinstance(one, AttachmentAdded)] == [source]
    assert attachment_to_dict(source) == {
        "type": "text/plain",
        "title": "[1] hotel.pdf, page 1",
        "data": "Dogs stay free.",
        "reference_type": "application/pdf",
        "reference_url": f"{path}#page=1",
    }
    assert "rag_tool have numbers" in model.asked[0].messages[0].text
    assert model.asked[2].messages[-1].text == (
        "Dogs stay free [1].\n\nSources:\n- [1] hotel.pdf, page 1: “Dogs stay free.”"
    )
    (finished,) = (one for one in events if isinstance(one, RunFinished))
    assert finished.usage.per_model == (ModelUsage("some-model", 12, 5),)


async def test_what_others_have_written_taints_each_run_even_if_it_is_not_read_again(desk):
    path = await desk.keep("shared.txt", HOTEL.encode())
    desk.is_owner = False
    tainted = []

    for _ in range(2):
        async with desk.run() as found:
            await found.ask("late", path)
            tainted += found.opening.taint.sources

    assert desk.reads == [path]
    assert tainted == ["file 'shared.txt' of another user"] * 2
