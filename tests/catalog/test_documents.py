"""Applications that DIAL Core keeps, from their manifests."""

from __future__ import annotations

import pytest

from apps.catalog import documents
from apps.catalog.documents import forget_documents, resolve_document
from apps.errors import ApplicationBroken

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def nothing_kept():
    forget_documents()
    yield
    forget_documents()


def document(prompt: str = "Be brief.") -> dict[str, object]:
    return {
        "orchestrator": {
            "deployment": {"deployment_id": "some-model"},
            "system_prompt": {"type": "custom", "content": prompt, "variables": {}},
        },
        "contexts": [],
        "tool_sets": [],
    }


async def test_a_document_becomes_an_application_of_that_name():
    found = await resolve_document("applications/b1/helper__1", "Helper", document())

    assert (found.id, found.slug, found.title, found.version, found.is_public) == (
        0,
        "applications/b1/helper__1",
        "Helper",
        0,
        False,
    )
    assert found.manifest.orchestrator.deployment.id == "some-model"


async def test_the_same_document_is_resolved_once_whatever_the_order_of_its_keys():
    first = await resolve_document("helper", "Helper", document())

    again = await resolve_document("helper", "Helper", dict(reversed(document().items())))

    assert again is first


async def test_a_changed_document_and_another_application_are_resolved_anew():
    first = await resolve_document("helper", "Helper", document())

    changed = await resolve_document("helper", "Helper", document("Be long."))
    others = await resolve_document("other", "Other", document())

    assert len({id(first), id(changed), id(others)}) == 3


async def test_changed_predefined_content_makes_it_anew(monkeypatch, settings, tmp_path):
    first = await resolve_document("helper", "Helper", document())
    settings.PREDEFINED_DIR = tmp_path

    assert await resolve_document("helper", "Helper", document()) is not first


async def test_only_the_newest_documents_are_kept(monkeypatch):
    monkeypatch.setattr(documents, "MOST_KEPT", 2)
    first = await resolve_document("a", "A", document())
    second = await resolve_document("b", "B", document())
    await resolve_document("a", "A", document())
    await resolve_document("c", "C", document())

    assert await resolve_document("a", "A", document()) is first
    assert await resolve_document("b", "B", document()) is not second


async def test_a_wrong_document_is_told_by_its_paths():
    wrong = {**document(), "tool_sets": [{"type": "none-such"}]}

    with pytest.raises(ApplicationBroken) as caught:
        await resolve_document("helper", "Helper", wrong)

    assert [line.split(":")[0] for line in caught.value.problems] == ["tool_sets[0].type"]
