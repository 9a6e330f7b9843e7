from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from apps.catalog.models import Application, Change, ContentItem
from apps.workspace.local.models import Deployment, McpServer, Secret
from tests.catalog.rows import make_application, make_deployment, manifest_with
from tests.console.admin.test_history import KEY, NAMED, with_key
from tests.console.pages import signed_in, words

pytestmark = pytest.mark.django_db

LIST = "/admin/catalog/application/"


@pytest.fixture
def anna() -> Client:
    return signed_in("anna")


@pytest.fixture
def ben() -> Client:
    return signed_in("ben")


@pytest.fixture(autouse=True)
def a_model() -> Deployment:
    return make_deployment("demo-model")


def fields(application: Application, **changes: Any) -> dict[str, str]:
    """What the form of the row sends, with some of it typed over; a manifest is a document."""
    stored = {
        "title": application.title,
        "slug": application.slug,
        "description": application.description,
        "manifest": application.manifest,
        "is_enabled": "on",
        "owner": "",
        "seen_version": str(application.version),
    } | changes
    if not isinstance(stored["manifest"], str):
        stored["manifest"] = json.dumps(stored["manifest"])
    return stored


def url_of(row: Any) -> str:
    return f"/admin/{row._meta.app_label}/{row._meta.model_name}/{row.pk}/change/"


def again(answer: Any, **changes: str) -> dict[str, str]:
    """What the shown form sends when a button of it is pressed."""
    form = answer.context["adminform"].form
    sent = {name: form[name].value() for name in form.fields}
    sent = {name: "on" if value is True else value for name, value in sent.items()}
    sent = {name: value for name, value in sent.items() if value not in (None, False)}
    prices = {"prices-TOTAL_FORMS": "0", "prices-INITIAL_FORMS": "0"}  # for deployments
    return prices | sent | changes


def contexts(*urls: str) -> dict[str, Any]:
    return manifest_with(contexts=[{"type": "file", "url": f"files/public/{u}"} for u in urls])


def test_the_second_is_told_who_changed_what_and_keeps_what_was_typed(anna, ben):
    row = make_application(manifest=manifest_with(odd=1))
    mine = fields(row, title="Mine", manifest=manifest_with(odd=3))
    anna.post(url_of(row), fields(row, description="Hers", manifest=manifest_with(odd=2)))

    told = ben.post(url_of(row), mine)

    page = words(told)
    assert "Somebody saved this application while you were editing it." in page
    assert "anna, " in page
    assert 'description changed before: − ""after: + "Hers"' in page  # noqa: RUF001
    assert 'title changed before: − "Travel"after: + "Mine"' in page  # noqa: RUF001
    assert "manifest.odd was 1 What you typed3 What was saved meanwhile2" in page
    form = told.context["adminform"].form
    assert (form["title"].value(), form["manifest"].value()) == ("Mine", mine["manifest"])
    assert Application.objects.get().title == "Travel"


@pytest.mark.parametrize(("choice", "odd"), [("mine", 3), ("theirs", 2)])
def test_what_does_not_overlap_is_merged_and_the_rest_is_chosen(anna, ben, choice, odd):
    row = make_application(manifest=manifest_with(odd=1))
    mine = fields(row, title="Mine", manifest=manifest_with(odd=3), is_public="on")
    anna.post(url_of(row), fields(row, description="Hers", manifest=manifest_with(odd=2)))
    told = ben.post(url_of(row), mine)

    done = ben.post(url_of(row), again(told, _merge="1", **{"choice:manifest.odd": choice}))

    assert done.status_code == 302
    row.refresh_from_db()
    assert (row.title, row.description, row.is_public, row.is_enabled, row.version) == (
        "Mine",
        "Hers",
        True,
        True,
        3,
    )
    assert row.manifest == manifest_with(odd=odd)
    assert Change.objects.filter(actor="ben", kind="catalog.application").count() == 1


def test_what_is_typed_can_be_saved_as_it_is(anna, ben):
    row = make_application()
    anna.post(url_of(row), fields(row, description="Hers"))
    told = ben.post(url_of(row), fields(row, title="Mine"))

    done = ben.post(url_of(row), again(told, _save="1"))

    row.refresh_from_db()
    assert (done.status_code, row.title, row.description) == (302, "Mine", "")


def test_a_third_who_saves_meanwhile_is_told_too_and_merged_with_the_first(anna, ben):
    row = make_application()
    anna.post(url_of(row), fields(row, description="Hers"))
    told = ben.post(url_of(row), fields(row, title="Mine"))
    row.refresh_from_db()
    anna.post(url_of(row), fields(row, manifest=manifest_with(odd=1)))

    told_again = ben.post(url_of(row), again(told, _merge="1"))
    assert (told_again.status_code, words(told_again).count("through the admin")) == (200, 2)
    ben.post(url_of(row), again(told_again, _merge="1"))

    row.refresh_from_db()
    assert (row.title, row.description, row.manifest) == ("Mine", "Hers", manifest_with(odd=1))


def test_a_manifest_that_cannot_be_read_stays_as_it_is_typed(anna, ben):
    row = make_application()
    anna.post(url_of(row), fields(row, description="Hers", manifest=manifest_with(odd=1)))

    told = ben.post(url_of(row), fields(row, title="Mine", manifest='{"half":'))
    assert "Not compared, because what is typed there has a mistake: manifest." in words(told)
    merged = ben.post(url_of(row), again(told, _merge="1"))

    form = merged.context["adminform"].form
    assert {name: form[name].value() for name in ("title", "description", "manifest")} == {
        "title": "Mine",
        "description": "Hers",
        "manifest": '{"half":',
    }


def test_two_add_to_one_list(anna, ben):
    row = make_application(manifest=contexts("a"))
    mine = fields(row, manifest=contexts("a", "mine"))
    anna.post(url_of(row), fields(row, manifest=contexts("theirs", "a")))

    told = ben.post(url_of(row), mine)
    ben.post(url_of(row), again(told, _merge="1"))

    assert Application.objects.get().manifest == contexts("theirs", "a", "mine")


def test_a_credential_that_the_first_replaced_is_merged_without_being_shown(anna, ben):
    row = make_application(manifest=with_key("sk-old-one"))
    seen = ben.get(url_of(row)).context["adminform"].form["manifest"].value()
    anna.post(url_of(row), fields(row, manifest=with_key(KEY)))

    told = ben.post(url_of(row), fields(row, title="Mine", manifest=seen))
    done = ben.post(url_of(row), again(told, _merge="1"))

    row.refresh_from_db()
    assert KEY not in told.text
    assert (done.status_code, row.title, row.manifest) == (302, "Mine", NAMED)


def test_a_merge_sends_no_credential_to_another_server(anna, ben):
    row = make_application(manifest=with_key("sk-old-one"))
    seen = ben.get(url_of(row)).context["adminform"].form["manifest"].value()
    assert "api.example.com" in seen
    anna.post(url_of(row), fields(row, manifest=with_key(KEY)))
    typed = seen.replace("api.example.com", "evil.example.com")

    told = ben.post(url_of(row), fields(row, manifest=typed))
    done = ben.post(url_of(row), again(told, _merge="1"), follow=True)

    assert KEY not in done.text
    named = with_key({"$secret": "api-token"}, "https://evil.example.com/a")
    assert Application.objects.get().manifest == named
    assert Secret.objects.get().servers == ["https://api.example.com"]
    assert "is not meant for https://evil.example.com" in words(done)


def test_what_was_typed_for_a_deleted_row_makes_a_new_one(anna, ben):
    row = make_application()
    mine = fields(row, title="Mine")
    anna.post(f"{LIST}{row.pk}/archive/")
    anna.post(f"{LIST}{row.pk}/delete/", {"post": "yes"})

    told = ben.post(url_of(row), mine)
    assert "Somebody deleted this application while you were editing it." in words(told)
    assert "anna, " in words(told)
    assert Application.objects.count() == 0
    done = ben.post(url_of(row), again(told))

    assert (done.status_code, Application.objects.get().title) == (302, "Mine")


def test_without_a_record_of_what_was_there_all_that_differs_is_a_choice(ben):
    row = make_application()
    mine = fields(row, title="Mine")
    Application.objects.update(version=2, description="Unrecorded")

    told = ben.post(url_of(row), mine)
    done = ben.post(url_of(row), again(told, _merge="1", **{"choice:description": "theirs"}))

    row.refresh_from_db()
    assert "is not recorded" in words(told)
    assert (done.status_code, row.title, row.description) == (302, "Mine", "Unrecorded")


def deployment(**changes: str) -> dict[str, str]:
    """What the form of the deployment sends that was read first."""
    row = Deployment.objects.get()
    names = ("deployment_id", "display_name", "description", "kind", "provider", "base_url")
    stored = {name: getattr(row, name) for name in names}
    documents = {"features": "{}", "parameters": "{}", "input_attachment_types": "[]"}
    seen = {"is_enabled": "on", "seen_version": str(row.version)}
    prices = {"prices-TOTAL_FORMS": "0", "prices-INITIAL_FORMS": "0"}
    return {**stored, **documents, **seen, **prices, **changes}


def test_a_key_that_both_replaced_is_chosen_without_being_shown(anna, ben, a_model):
    mine = deployment(display_name="Mine", new_api_key="sk-of-ben")
    anna.post(url_of(a_model), deployment(description="Hers", new_api_key="sk-of-anna"))
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
    mine = deployment(base_url="https://evil.example/v1")
    anna.post(url_of(a_model), deployment(description="Hers"))

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
    assert "Somebody saved this" in words(told)
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
    assert "text.name changed" in words(told)
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
