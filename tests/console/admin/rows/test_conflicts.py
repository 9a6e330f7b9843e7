from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from apps.catalog.models import Change, ContentItem
from apps.workspace.local.models import Deployment, McpServer, Secret
from tests.catalog.rows import make_deployment
from tests.console.admin.rows.test_history import KEY
from tests.console.pages import signed_in, words

pytestmark = pytest.mark.django_db


@pytest.fixture
def anna() -> Client:
    return signed_in("anna")


@pytest.fixture
def ben() -> Client:
    return signed_in("ben")


@pytest.fixture(autouse=True)
def a_model() -> Deployment:
    return make_deployment("demo-model")


def fields(row: Deployment, **changes: Any) -> dict[str, str]:
    """Return the data of the row's form with some fields changed; parameters are a document."""
    names = ("deployment_id", "display_name", "description", "kind", "provider", "base_url")
    stored = {name: getattr(row, name) for name in names}
    documents = {
        "features": "{}",
        "input_attachment_types": "[]",
        "parameters": json.dumps(row.parameters),
    }
    seen = {"is_enabled": "on", "seen_version": str(row.version)}
    prices = {"prices-TOTAL_FORMS": "0", "prices-INITIAL_FORMS": "0"}
    typed = {**stored, **documents, **seen, **prices, **changes}
    if not isinstance(typed["parameters"], str):
        typed["parameters"] = json.dumps(typed["parameters"])
    return typed


def url_of(row: Any) -> str:
    return f"/admin/{row._meta.app_label}/{row._meta.model_name}/{row.pk}/change/"


def again(answer: Any, **changes: str) -> dict[str, str]:
    """Return what the displayed form sends when one of its buttons is pressed."""
    form = answer.context["adminform"].form
    sent = {name: form[name].value() for name in form.fields}
    sent = {name: "on" if value is True else value for name, value in sent.items()}
    sent = {name: value for name, value in sent.items() if value not in (None, False)}
    prices = {"prices-TOTAL_FORMS": "0", "prices-INITIAL_FORMS": "0"}
    return prices | sent | changes


@pytest.fixture
def model(a_model: Deployment) -> Deployment:
    a_model.parameters = {"seed": 1}
    a_model.save()
    return a_model


def test_the_second_is_told_who_changed_what_and_keeps_what_was_typed(anna, ben, model):
    mine = fields(model, display_name="Mine", parameters={"seed": 3})
    anna.post(url_of(model), fields(model, description="Hers", parameters={"seed": 2}))

    told = ben.post(url_of(model), mine)

    page = words(told)
    assert "Another user saved this deployment while you were editing it." in page
    assert "anna, " in page
    assert 'Description changed before: − ""after: + "Hers"' in page  # noqa: RUF001
    assert 'Display name changed before: − "demo-model"after: + "Mine"' in page  # noqa: RUF001
    assert "Parameters › Seed was 1 Your input3 The saved value2" in page  # noqa: RUF001
    form = told.context["adminform"].form
    typed = (form["display_name"].value(), form["parameters"].value())
    assert typed == ("Mine", mine["parameters"])
    assert Deployment.objects.get().display_name == "demo-model"


@pytest.mark.parametrize(("choice", "seed"), [("mine", 3), ("theirs", 2), ("", 3)])
def test_what_does_not_overlap_is_merged_and_the_rest_is_chosen(anna, ben, model, choice, seed):
    mine = fields(model, display_name="Mine", parameters={"seed": 3})
    anna.post(url_of(model), fields(model, description="Hers", parameters={"seed": 2}))
    told = ben.post(url_of(model), mine)

    done = ben.post(url_of(model), again(told, _merge="1", **{"choice:parameters.seed": choice}))

    assert done.status_code == 302
    model.refresh_from_db()
    assert (model.display_name, model.description, model.is_enabled, model.version) == (
        "Mine",
        "Hers",
        True,
        4,
    )
    assert model.parameters == {"seed": seed}
    assert Change.objects.filter(actor="ben", kind="workspace.deployment").count() == 1


def test_what_is_typed_can_be_saved_as_it_is(anna, ben, model):
    anna.post(url_of(model), fields(model, description="Hers"))
    told = ben.post(url_of(model), fields(model, display_name="Mine"))

    done = ben.post(url_of(model), again(told, _save="1"))

    model.refresh_from_db()
    assert (done.status_code, model.display_name, model.description) == (302, "Mine", "")


def test_a_third_who_saves_meanwhile_is_told_too_and_merged_with_the_first(anna, ben, model):
    anna.post(url_of(model), fields(model, description="Hers"))
    told = ben.post(url_of(model), fields(model, display_name="Mine"))
    model.refresh_from_db()
    anna.post(url_of(model), fields(model, parameters={"seed": 2}))

    told_again = ben.post(url_of(model), again(told, _merge="1"))
    assert (told_again.status_code, words(told_again).count("through the admin")) == (200, 2)
    ben.post(url_of(model), again(told_again, _merge="1"))

    model.refresh_from_db()
    assert (model.display_name, model.description, model.parameters) == (
        "Mine",
        "Hers",
        {"seed": 2},
    )


def test_a_document_that_cannot_be_read_stays_as_it_is_typed(anna, ben, model):
    anna.post(url_of(model), fields(model, description="Hers", parameters={"seed": 2}))

    told = ben.post(url_of(model), fields(model, display_name="Mine", parameters='{"half":'))
    assert "Not compared, because your input has an error: parameters." in words(told)
    merged = ben.post(url_of(model), again(told, _merge="1"))

    form = merged.context["adminform"].form
    names = ("display_name", "description", "parameters")
    assert {name: form[name].value() for name in names} == {
        "display_name": "Mine",
        "description": "Hers",
        "parameters": '{"half":',
    }


def test_two_add_to_one_list(anna, ben, model):
    model.parameters = {"stop": ["a"]}
    model.save()
    mine = fields(model, parameters={"stop": ["a", "mine"]})
    anna.post(url_of(model), fields(model, parameters={"stop": ["theirs", "a"]}))

    told = ben.post(url_of(model), mine)
    ben.post(url_of(model), again(told, _merge="1"))

    assert Deployment.objects.get().parameters == {"stop": ["theirs", "a", "mine"]}


def test_what_was_typed_for_a_deleted_row_makes_a_new_one(anna, ben, model):
    mine = fields(model, display_name="Mine")
    anna.post(f"{url_of(model).removesuffix('change/')}delete/", {"post": "yes"})

    told = ben.post(url_of(model), mine)
    assert "Another user deleted this deployment while you were editing it." in words(told)
    assert "anna, " in words(told)
    assert Deployment.objects.count() == 0
    done = ben.post(url_of(model), again(told))

    assert (done.status_code, Deployment.objects.get().display_name) == (302, "Mine")


def test_without_a_record_of_what_was_there_all_that_differs_is_a_choice(ben, model):
    mine = fields(model, display_name="Mine")
    Deployment.objects.update(version=3, description="Unrecorded")

    told = ben.post(url_of(model), mine)
    done = ben.post(url_of(model), again(told, _merge="1", **{"choice:description": "theirs"}))

    model.refresh_from_db()
    assert "The author and the previous values are not recorded" in words(told)
    assert (done.status_code, model.display_name, model.description) == (302, "Mine", "Unrecorded")


def test_a_key_that_both_replaced_is_chosen_without_being_shown(anna, ben, a_model):
    mine = fields(a_model, display_name="Mine", new_api_key="sk-of-ben")
    anna.post(url_of(a_model), fields(a_model, description="Hers", new_api_key="sk-of-anna"))
    told = ben.post(url_of(a_model), mine)
    assert "sk-of-anna" not in told.text
    choices = {"choice:api_key": "theirs"}
    ben.post(url_of(a_model), {**again(told), "new_api_key": "sk-of-ben", "_merge": "1", **choices})

    a_model.refresh_from_db()
    assert (a_model.display_name, a_model.description, a_model.api_key) == (
        "Mine",
        "Hers",
        "sk-of-anna",
    )


def test_a_merge_sends_no_stored_key_to_another_server(anna, ben, a_model):
    a_model.provider, a_model.base_url, a_model.api_key = "openai", "https://a.example/v1", KEY
    a_model.save()
    mine = fields(a_model, base_url="https://evil.example/v1")
    anna.post(url_of(a_model), fields(a_model, description="Hers"))

    told = ben.post(url_of(a_model), mine)
    refused = ben.post(url_of(a_model), again(told, _merge="1"))

    assert "The key was stored for another server." in words(refused)
    a_model.refresh_from_db()
    assert (a_model.base_url, a_model.api_key) == ("https://a.example/v1", KEY)


def test_a_merge_widens_no_secret_without_its_value(anna, ben):
    row = Secret(name="s", value=KEY, servers=["https://a.example"])
    row.save()
    sent = {"description": "", "servers": "https://a.example", "seen_version": "1"}
    anna.post(url_of(row), {**sent, "description": "Hers"})

    told = ben.post(url_of(row), {**sent, "servers": "https://evil.example"})
    refused = ben.post(url_of(row), again(told, _merge="1"))

    assert "The value was stored for other servers." in words(refused)
    row.refresh_from_db()
    assert (row.servers, row.description) == (["https://a.example"], "Hers")


def test_two_edit_one_secret(anna, ben):
    row = Secret(name="s", value=KEY, servers=["https://a.example"])
    row.save()
    sent = {"description": "", "servers": "https://a.example", "seen_version": "1"}
    anna.post(url_of(row), {**sent, "new_value": "a-new-one"})

    told = ben.post(url_of(row), {**sent, "description": "Mine"})
    ben.post(url_of(row), again(told, _merge="1"))

    row.refresh_from_db()
    assert (row.description, row.value, row.version) == ("Mine", "a-new-one", 3)
    assert "a-new-one" not in told.text + repr(list(Change.objects.values()))


def test_two_edit_one_server(anna, ben):
    row = McpServer(name="own", command="one", arguments=["-a", "-b"])
    row.save()
    stored = {"name": "own", "command": "one", "arguments": "-a\n-b", "is_enabled": "on"}
    anna.post(url_of(row), {**stored, "arguments": "-a\n-b\n-hers", "seen_version": "1"})

    told = ben.post(url_of(row), {**stored, "arguments": "-mine\n-a\n-b", "seen_version": "1"})
    ben.post(url_of(row), again(told, _merge="1"))

    row.refresh_from_db()
    assert row.arguments == ["-mine", "-a", "-b", "-hers"]


def test_two_edit_two_files_of_one_skill(anna, ben):
    text = "---\nname: guide\ndescription: How.\n---\n\nRead.\n"
    row = ContentItem(kind="skill", name="guide", text=text, files={"a.md": "A", "b.md": "B"})
    row.save()

    def sent(*files: tuple[str, str], **changes: Any) -> dict[str, Any]:
        paths, texts = zip(*files, strict=True)
        return {"text": text, "files-path": paths, "files-text": texts, "seen_version": 1} | changes

    anna.post(url_of(row), sent(("a.md", "Hers"), ("b.md", "B")))
    told = ben.post(url_of(row), sent(("a.md", "A"), ("b.md", "Mine")))
    assert "Another user saved this" in words(told)
    assert "Mine" in told.text
    seen = {"seen_version": 2, "base_version": 1, "_merge": "1"}
    done = ben.post(url_of(row), sent(("a.md", "A"), ("b.md", "Mine"), **seen))

    row.refresh_from_db()
    assert (done.status_code, row.files) == (302, {"a.md": "Hers", "b.md": "Mine"})


def test_two_edit_one_toolset_that_is_written_as_text(anna, ben):
    def toolset(**changes: Any) -> str:
        document = {"type": "rest-api", "name": "W", "description": "", "tools": []} | changes
        return json.dumps(document, indent=1)

    row = ContentItem(kind="toolset", name="w", text=toolset())
    row.save()
    anna.post(url_of(row), {"text": toolset(name="Hers"), "seen_version": "1"})
    told = ben.post(url_of(row), {"text": toolset(description="Mine"), "seen_version": "1"})
    assert "Text › Name changed" in words(told)  # noqa: RUF001
    ben.post(url_of(row), again(told, _merge="1"))

    row.refresh_from_db()
    assert json.loads(row.text) == json.loads(toolset(name="Hers", description="Mine"))


def test_two_remove_all_files_of_one_skill(anna, ben):
    text = "---\nname: guide\ndescription: How.\n---\n\nRead.\n"
    row = ContentItem(kind="skill", name="guide", text=text, files={"a.md": "A", "b.md": "B"})
    row.save()
    one = {"text": text, "seen_version": "1", "files-text": "A", "files-path": "a.md"}
    anna.post(url_of(row), {**one, "files-text": "B", "files-path": "b.md"})

    told = ben.post(url_of(row), one)
    done = ben.post(url_of(row), {**one, "seen_version": 2, "base_version": 1, "_merge": "1"})

    row.refresh_from_db()
    assert (told.status_code, done.status_code, row.files) == (200, 302, {})
