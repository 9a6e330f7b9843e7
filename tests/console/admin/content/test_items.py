from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group

from apps.accounts.models import Team
from apps.catalog.content.installed import installed_content
from apps.catalog.content.models import ContentItem
from apps.manifest.markdown.skill_files import TEXT_ENDINGS
from tests.catalog.content.files import write
from tests.catalog.rows import make_application, manifest_with
from tests.console.pages import browser_of, staff, staff_account
from tests.manifest.documents import rest_tool, rest_tools

pytestmark = pytest.mark.django_db

LIST = "/admin/catalog/contentitem/"
ADD = f"{LIST}add/"
SAIL = "---\nname: sail\ndescription: How to sail.\n---\nHoist."
PREVIEW = f"{LIST}preview/"
SHIP = rest_tool("ship", type="restapi-tool")
HARBOUR = rest_tools({"template_name": "ship"}, name="Harbour")


@pytest.fixture(autouse=True)
def layers(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("apps.process_state.MAX_AGE_SECONDS", 0.0)
    settings.PREDEFINED_DIR = write(
        tmp_path / "1",
        prompt__polite="Be polite.\nAlways.",
        tool__ship=SHIP,
        toolset__harbour=HARBOUR,
    )
    extra = write(tmp_path / "2", prompt__polite="Be brief.\nAlways.", tool__bad=b"{")
    settings.PREDEFINED_EXTRA_PATHS = [str(extra)]
    return tmp_path


def page_of(kind: str, name: str) -> str:
    return f"{LIST}item/{kind}/{name}/"


def make(kind: str, name: str, text: str) -> ContentItem:
    return ContentItem.objects.create(kind=kind, name=name, text=text)


def words(answer: Any) -> str:
    """Return the text of the page without its markup."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", answer.text)).split())


def names(answer: Any) -> list[str]:
    return [f"{e.item.kind} {e.item.name}" for e in answer.context["entries"]]


def test_the_list_has_every_item_with_its_layer_its_uses_and_what_is_wrong(admin_client, layers):
    prompt = {"type": "predefined", "template": "polite"}
    orchestrator = {"deployment": {"deployment_id": "demo-model"}, "system_prompt": prompt}
    make_application(manifest=manifest_with(orchestrator=orchestrator))
    make("prompt", "own", "Be yourself.")

    answer = admin_client.get(LIST)

    shown = [
        (f"{e.item.kind} {e.item.name}", e.layer, e.layers, e.uses.count, len(e.problems))
        for e in answer.context["entries"]
    ]
    second = f"{layers}/2"
    assert shown == [
        ("prompt own", "database", 1, 0, 0),
        ("prompt polite", second, 2, 1, 0),
        ("tool bad", second, 1, 0, 1),
        ("tool ship", "built in", 1, 1, 0),
        ("toolset harbour", "built in", 1, 0, 0),
    ]
    assert "broken Line 1, column 2: not valid JSON" in words(answer)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("?kind=tool", ["tool bad", "tool ship"]),
        ("?state=broken", ["tool bad"]),
        ("?state=replaced", ["prompt polite"]),
        ("?state=row", []),
        ("?q=HARB", ["toolset harbour"]),
        ("?q=a&kind=tool&state=broken", ["tool bad"]),
        ("?page=99", ["prompt polite", "tool bad", "tool ship", "toolset harbour"]),
    ],
)
def test_the_list_is_filtered(admin_client, query, expected):
    assert names(admin_client.get(LIST + query)) == expected


def test_a_filter_is_a_list_of_links_that_retain_the_other_filters(admin_client, layers):
    choices = admin_client.get(f"{LIST}?q=a&kind=tool&page=2").context

    kinds = {one.title: one.url for one in choices["kinds"].options}
    assert (choices["kinds"].chosen, choices["states"].chosen) == ("Tool", "All")
    assert (kinds["All"], kinds["Prompt"]) == ("?q=a", "?q=a&kind=prompt")
    assert choices["states"].options[1].url == "?q=a&kind=tool&state=broken"


def test_a_layer_that_is_missing_is_told_in_the_list(admin_client, layers, settings):
    settings.PREDEFINED_EXTRA_PATHS = [str(layers / "gone")]

    assert f"{layers}/gone: the directory does not exist." in words(admin_client.get(LIST))


def test_a_page_shows_the_layers_and_how_they_differ(admin_client, layers):
    make("prompt", "polite", "Be <b>quick</b>.\nAlways.")

    answer = admin_client.get(page_of("prompt", "polite"))

    shown = [
        (layer.title, layer.in_force, [(line.kind, line.text) for line in layer.lines or ()])
        for layer in answer.context["layers"]
    ]
    place = ("place", "@@ -1,2 +1,2 @@")
    same = ("same", "Always.")
    assert shown == [
        ("database", True, [place, ("removed", "Be brief."), ("added", "Be <b>quick</b>."), same]),
        (f"{layers}/2", False, [place, ("removed", "Be polite."), ("added", "Be brief."), same]),
        ("built in", False, []),
    ]
    markup = answer.text
    assert "<b>quick" not in markup
    assert '<ins><span class="console-hidden">added: </span>' in markup


def test_a_page_shows_who_uses_an_item_and_what_it_comes_to(admin_client):
    toolset = {"type": "predefined", "template_name": "harbour"}
    application = make_application(manifest=manifest_with(tool_sets=[toolset]))
    pilot = "---\ntitle: Pilot\ndescription: Knows ships.\nbrings: [harbour]\n---\nBe brief.\n"
    ContentItem.objects.create(kind="agent", name="pilot", text=pilot)

    answer = admin_client.get(page_of("toolset", "harbour"))
    inner = admin_client.get(page_of("tool", "ship"))

    assert [a.pk for a in answer.context["uses"].applications] == [application.pk]
    assert answer.context["uses"].items == (("agent", "pilot"),)
    assert inner.context["uses"].items == (("toolset", "harbour"),)
    titles = [block.title for block in answer.context["blocks"]]
    assert titles == ["Toolset of the kind rest-api", "Tool ship"]


def test_a_prompt_is_used_by_features_a_team_and_the_installation(admin_client, monkeypatch):
    monkeypatch.setattr("apps.console.admin.content.items.PLATFORM_PROMPT", "memory_rules")
    row = make("prompt", "memory_rules", "Remember.")
    Team.objects.create(group=Group.objects.create(name="Crew"), prompt="memory_rules")
    make_application(manifest=manifest_with(features={"memory": {"enabled": True}}))

    shown = words(admin_client.get(page_of("prompt", "memory_rules")))
    asked = words(admin_client.get(f"{LIST}{row.pk}/delete/"))

    elsewhere = "very application: it is the platform prompt 1 team"
    assert f"Travel application E{elsewhere}" in shown
    used = "These use prompt memory_rules and lose it when they are published again:"
    assert f"{used} Travel (application) e{elsewhere}" in asked


def test_a_skill_is_used_by_the_applications_that_have_the_tools_that_it_requires(admin_client):
    make("skill", "sail", SAIL)
    required = "metadata:\n  requires-tools: store find\n---"
    make("skill", "recall", SAIL.replace("sail", "recall").replace("\n---", f"\n{required}", 1))

    entries = admin_client.get(f"{LIST}?kind=skill").context["entries"]
    pages = [words(admin_client.get(page_of("skill", name))) for name in ("recall", "sail")]

    assert {one.item.name: one.required_tools for one in entries} == {
        "recall": ("store", "find"),
        "sail": (),
    }
    assert "Applications with the tools store , find . The models of other" in pages[0]
    assert "All applications: skills are available to all of them." in pages[1]


def test_the_page_of_a_broken_item_says_why_and_has_no_preview(admin_client):
    answer = admin_client.get(page_of("tool", "bad"))

    assert "The active item has errors" in words(answer)
    assert (len(answer.context["problems"]), answer.context["blocks"]) == (1, [])


@pytest.mark.parametrize("path", ["item/prompt/gone/", "item/song/polite/", "item/tool/polite/"])
def test_an_item_that_is_not_there_has_no_page(admin_client, path):
    assert admin_client.get(LIST + path).status_code == 404


def test_an_override_begins_with_a_copy_and_is_in_force_once_it_is_saved(admin_client):
    form = admin_client.get(f"{ADD}?kind=prompt&name=polite").context["adminform"].form
    typed = {name: form.initial[name] for name in ("kind", "name", "text")}
    assert typed == {"kind": "prompt", "name": "polite", "text": "Be brief.\nAlways."}
    assert not ContentItem.objects.exists()

    answer = admin_client.post(ADD, {**typed, "text": "Be quick.\r\nAlways.\r\n"})

    assert (answer.status_code, answer["Location"]) == (302, page_of("prompt", "polite"))
    assert installed_content().items["prompt"]["polite"].value == "Be quick.\nAlways."
    assert ContentItem.objects.get().text == "Be quick.\nAlways.\n"


def test_a_reset_asks_first_and_brings_back_what_is_below(admin_client, layers):
    row = make("prompt", "polite", "Be quick.")
    url = f"{LIST}{row.pk}/delete/"

    asked = words(admin_client.get(url))
    assert f"Then {layers}/2/prompt/polite.md is active again." in asked
    assert ContentItem.objects.exists()
    answer = admin_client.post(url, {"post": "yes"})

    assert (answer.status_code, answer["Location"]) == (302, page_of("prompt", "polite"))
    assert installed_content().items["prompt"]["polite"].value == "Be brief.\nAlways."


def test_a_row_with_nothing_below_is_deleted_into_the_list(admin_client):
    row = make("prompt", "own", "Be yourself.")

    answer = admin_client.post(f"{LIST}{row.pk}/delete/", {"post": "yes"})

    assert answer["Location"] == LIST


@pytest.mark.parametrize(
    ("kind", "text", "problem"),
    [
        ("tool", "{", "Line 1, column 2: not valid JSON: "),
        ("tool", '{"type": "restapi-tool"}', "The predefined tool 'new' is not valid. "),
        ("toolset", '{"type": "predefined", "template_name": "harbor"}',
         "There is no predefined toolset 'harbor'; did you mean 'harbour'?"),
        ("toolset", '{"type": "predefined", "template_name": "new"}',
         "The references between toolset templates form a cycle: new → new."),
        ("prompt", " ", "the file is empty."),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_refused_at_the_text_and_comes_back_as_typed(
    admin_client, kind, text, problem
):
    answer = admin_client.post(ADD, {"kind": kind, "name": "new", "text": text})

    form = answer.context["adminform"].form
    assert (answer.status_code, ContentItem.objects.count()) == (200, 0)
    assert (list(form.errors), form["text"].value()) == (["text"], text)
    assert form.errors["text"][0].startswith(problem)


def test_nobody_overwrites_what_somebody_else_saved_meanwhile(admin_client):
    row = make("prompt", "own", "Be yourself.")
    url = f"{LIST}{row.pk}/change/"
    row.save()

    answer = admin_client.post(url, {"text": "Mine.", "seen_version": "1"})
    assert "Another user saved this predefined item" in words(answer)
    assert answer.context["adminform"].form["seen_version"].value() == 2
    answer = admin_client.post(url, {"text": "Mine.", "seen_version": "2"})

    assert answer.status_code == 302
    row.refresh_from_db()
    assert (row.text, row.version) == ("Mine.", 3)


@pytest.mark.parametrize(
    ("typed", "problems", "titles"),
    [
        ({"kind": "prompt", "text": "On {locale}"}, [], ["Instructions for the model"]),
        ({"kind": "skill", "name": "sail", "text": SAIL, "files-path": "a.md", "files-text": "A"},
         [], ["Description for the model", "Instructions, loaded when a task needs them",
              "a.md"]),
        ({"kind": "skill", "name": "sail", "text": SAIL, "files-path": "a.exe", "files-text": "A"},
         [f"a.exe: must end with one of {' '.join(sorted(TEXT_ENDINGS))}."], []),
        ({"kind": "prompt", "text": "x", "files-path": "a.md", "files-text": ""},
         ["Only skills have files."], []),
        ({"kind": "prompt", "text": "x" * 2_097_153}, ["The text is too long."], []),
        ({"kind": "", "text": "x"}, ["Choose a kind first."], []),
        ({"kind": "prompt", "text": ""}, ["the file is empty."], []),
    ],
)  # fmt: skip
def test_a_preview_saves_nothing(admin_client, typed, problems, titles):
    found = admin_client.post(PREVIEW, typed).json()

    assert (found["problems"], [block["title"] for block in found["blocks"]]) == (problems, titles)
    assert not ContentItem.objects.exists()


def test_the_preview_of_a_toolset_knows_the_row_that_it_replaces(admin_client):
    make("tool", "ship", '{"type": "restapi-tool"}')

    found = admin_client.post(PREVIEW, {"kind": "toolset", "name": "harbour", "text": "{}"}).json()

    assert found["problems"][0].startswith("The predefined toolset 'harbour' is not valid. type: ")


def test_without_permission_there_is_nothing_to_see(layers):
    client = browser_of(staff_account("staff"))
    row = make("prompt", "polite", "Be quick.")
    gets = (LIST, ADD, page_of("prompt", "polite"), f"{LIST}{row.pk}/delete/")

    assert [client.get(url).status_code for url in gets] == [403] * 4
    assert client.post(PREVIEW, {"kind": "prompt", "text": "x"}).status_code == 403


def test_who_may_only_look_is_offered_nothing_else(layers):
    client = staff("view_contentitem")
    row = make("prompt", "polite", "Be quick.")

    pages = [client.get(LIST), client.get(page_of("prompt", "polite"))]
    pages.append(client.get(page_of("tool", "ship")))

    assert [page.status_code for page in pages] == [200] * 3
    said = " ".join(map(words, pages))
    assert not any(word in said for word in ("Add an item", "Override", "Reset"))
    assert client.post(f"{LIST}{row.pk}/delete/", {"post": "yes"}).status_code == 403
    client.post(f"{LIST}{row.pk}/change/", {"text": "Mine."})
    row.refresh_from_db()
    assert row.text == "Be quick."
