"""Applications whose manifests are stored by DIAL Core."""

from __future__ import annotations

import json

import pytest

from apps.catalog import resolve as catalog
from apps.catalog.content.installed import expire_content
from apps.catalog.models import ContentItem
from apps.catalog.resolve import forget_applications, resolve_document
from apps.errors import ApplicationBroken
from tests.contract import proves

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def nothing_kept():
    forget_applications()
    expire_content()
    yield
    forget_applications()
    expire_content()


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
    monkeypatch.setattr(catalog, "MOST_DOCUMENTS", 2)
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


def tracking(token: object, **more: object) -> dict[str, object]:
    return {
        "type": "rest-api",
        "name": "tracking",
        "authorization": {"type": "bearer", "token": token},
        "tools": [],
        **more,
    }


@pytest.mark.parametrize(
    ("toolset", "place"),
    [
        (tracking({"$secret": "shop"}), "authorization"),
        (
            {
                "type": "predefined",
                "template_name": "weather",
                "override": {"authorization": {"token": {"$secret": "shop"}}},
            },
            "override.authorization",
        ),
    ],
    ids=["itself", "in a patch"],
)
async def test_a_document_that_others_keep_names_no_secret_of_ours(toolset, place):
    with pytest.raises(ApplicationBroken) as broken:
        await resolve_document("helper", "Helper", {**document(), "tool_sets": [toolset]})

    assert broken.value.problems == (
        f"tool_sets[0].{place}.token: refers to a secret of this installation, which only its own applications may use; enter the credential itself",
    )


@pytest.mark.parametrize("token", [{"$secret": "shop"}, "sk-typed"])
@pytest.mark.parametrize(
    ("patch", "is_refused"),
    [
        ({"name": "parcels", "description": "Where is it?"}, False),
        ({"authorization": {"type": "basic"}}, True),
        ({"tools": []}, True),
    ],
)
async def test_a_document_that_others_keep_cannot_turn_the_credentials_of_a_template_round(
    token, patch, is_refused
):
    text = json.dumps(tracking(token))
    await ContentItem.objects.acreate(kind="toolset", name="tracking", text=text)
    expire_content()
    reference = {"type": "predefined", "template_name": "tracking", "override": patch}

    found = await resolve_document("helper", "Helper", {**document(), "tool_sets": [reference]})

    told = [issue.message for issue in found.prepared.issues]
    assert [line.partition(" has ")[0] for line in told] == (
        ["tool_sets[0]: The predefined toolset 'tracking'"] if is_refused else []
    )


async def test_a_patch_of_a_toolset_cannot_turn_the_credentials_of_its_templates_round():
    place = {"type": "header", "key": "X-Key"}
    parameters = {"k": {"type": None, "const": {"$secret": "shop"}, "parameter_info": place}}
    function = {
        "name": "look",
        "description": "Looks.",
        "parameters": {"type": "object", "properties": parameters},
    }
    method = {"method_url": "https://track.example.org/", "method_type": "get"}
    tool = {"rest_api_method_info": method, "open_ai_tool": {"function": function}}
    toolset = {"type": "rest-api", "name": "t", "tools": [{"template_name": "look"}]}
    await ContentItem.objects.acreate(kind="tool", name="look", text=json.dumps(tool))
    await ContentItem.objects.acreate(kind="toolset", name="track", text=json.dumps(toolset))
    expire_content()
    patch = {"tools": [{"template_name": "look", "override": {"enabled": True, "attachment": {}}}]}
    patched = {"type": "predefined", "template_name": "track", "override": patch}

    found = await resolve_document("helper", "Helper", {**document(), "tool_sets": [patched]})

    [told] = [issue.message for issue in found.prepared.issues]
    assert told.startswith("tool_sets[0]: The predefined toolset 'track' has credentials")


@proves("2.5")
@pytest.mark.parametrize("is_on", [True, False])
async def test_what_is_written_for_preview_features_in_vain_is_an_issue(is_on, settings, caplog):
    settings.ENABLE_PREVIEW_FEATURES = is_on
    toolset = {"type": "rest-api", "name": "Shop", "tools": [], "deferred": False}
    hook = {"event": "on_request_start", "tool_name": "recall"}

    found = await resolve_document(
        "helper", "Helper", {**document(), "tool_sets": [toolset], "hooks": [hook]}
    )

    why = "is left out: it is a preview feature, and preview features are off in this installation"
    issues = [(one.section, one.message, one.is_hard) for one in found.prepared.issues]
    assert issues == [
        ("Application configuration", f"{path}: {why}.", False)
        for path in ("hooks", "tool_sets[0].deferred")
        if not is_on
    ]
    lines = [f"Application helper: {path} {why}" for path in ("hooks", "tool_sets[0].deferred")]
    said = [r.getMessage() for r in caplog.records if r.name == "apps.catalog.resolved_application"]
    assert said == ([] if is_on else lines)
