"""A plain credential becomes a secret, and the draft names it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.test import Client

from apps.catalog.models import Application, empty_manifest
from apps.workspace.local.models import Secret
from tests.catalog.rows import make_operator

LIST = "/admin/catalog/application/"
MARK = "sk-marked-0123456789"
OTHER = "sk-other-0123456789"

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator() -> Client:
    client = Client()
    client.force_login(make_operator())
    return client


def tracking(key: Any = MARK, url: str = "https://track.example.org/v2") -> dict[str, Any]:
    function = {
        "name": "look",
        "description": "Looks.",
        "parameters": {"type": "object", "properties": {}},
    }
    return {
        "type": "rest-api",
        "name": "tracking",
        "authorization": {"type": "api_key", "name": "X-Key", "location": "header", "key": key},
        "tools": [
            {
                "type": "restapi-tool",
                "rest_api_method_info": {"method_url": url, "method_type": "get"},
                "open_ai_tool": {"function": function},
            }
        ],
    }


def manifest(*toolsets: Any) -> dict[str, Any]:
    return {**empty_manifest(), "tool_sets": list(toolsets)}


def make_application(*toolsets: Any) -> Application:
    return Application.objects.create(slug="parcels", title="Parcels", manifest=manifest(*toolsets))


def posted(document: Any, **changes: str) -> dict[str, str]:
    text = document if isinstance(document, str) else json.dumps(document)
    return {"title": "Typed", "slug": "parcels", "description": "", "manifest": text, **changes}


def shown_manifest(answer: Any) -> Any:
    return json.loads(answer.context["adminform"].form["manifest"].value())


PATH = "tool_sets[0].authorization.key"


def test_the_page_shows_no_credential_and_offers_to_move_it(operator):
    row = make_application(tracking())

    answer = operator.get(f"{LIST}{row.pk}/change/")

    page = answer.content.decode()
    assert MARK not in page
    assert list(shown_manifest(answer)["tool_sets"][0]["authorization"]["key"]) == ["$hidden"]
    assert f'name="_move" value="{PATH}"' in page


def test_a_hidden_credential_is_saved_as_what_it_stands_for(operator):
    row = make_application(tracking())
    shown = shown_manifest(operator.get(f"{LIST}{row.pk}/change/"))

    operator.post(f"{LIST}{row.pk}/change/", posted(shown))

    row.refresh_from_db()
    assert (row.title, row.manifest) == ("Typed", manifest(tracking()))


def test_a_hidden_credential_is_not_saved_for_another_server(operator):
    row = make_application(tracking())
    shown = shown_manifest(operator.get(f"{LIST}{row.pk}/change/"))
    method = shown["tool_sets"][0]["tools"][0]["rest_api_method_info"]
    method["method_url"] = "https://mine.example.net/"

    answer = operator.post(f"{LIST}{row.pk}/change/", posted(shown))

    assert [
        finding.path
        for finding in answer.context["adminform"].form.fields["manifest"].widget.findings
        if finding.severity == "error"
    ] == [PATH]
    row.refresh_from_db()
    assert row.manifest == manifest(tracking())


def test_a_copy_has_the_credentials_of_the_original(operator):
    row = make_application(tracking())
    address = f"{LIST}add/?copy={row.pk}"
    shown = operator.get(address)

    operator.post(address, posted(shown_manifest(shown), slug="copied"))

    assert MARK not in shown.content.decode()
    assert Application.objects.get(slug="copied").manifest == manifest(tracking())


def test_moving_makes_a_secret_for_the_server_and_names_it_in_the_draft(operator):
    row = make_application(tracking())
    draft = shown_manifest(operator.get(f"{LIST}{row.pk}/change/"))
    other = {**tracking(OTHER, "https://other.example.org/"), "name": "other"}
    draft["tool_sets"].append(other)

    answer = operator.post(
        f"{LIST}{row.pk}/change/", posted(draft, description="Half a sent", _move=PATH)
    )

    secret = Secret.objects.get()
    assert (secret.name, secret.value) == ("tracking-key", MARK)
    assert secret.servers == ["https://track.example.org"]
    assert str(secret.created_by) == "operator"
    form = answer.context["adminform"].form
    typed = shown_manifest(answer)["tool_sets"]
    assert (form["title"].value(), form["description"].value()) == ("Typed", "Half a sent")
    assert typed == [tracking({"$secret": "tracking-key"}), draft["tool_sets"][1]]
    row.refresh_from_db()
    assert (row.title, row.manifest) == ("Parcels", manifest(tracking()))

    operator.post(f"{LIST}{row.pk}/change/", posted({**draft, "tool_sets": typed}))
    row.refresh_from_db()
    assert row.manifest["tool_sets"] == typed


def test_a_second_secret_of_the_same_name_gets_a_number(operator):
    Secret.objects.create(name="tracking-key", value="x", servers=["https://a.example.org"])

    operator.post(f"{LIST}add/", posted(manifest(tracking()), _move=PATH))

    assert Secret.objects.get(name="tracking-key-2").value == MARK
    assert not Application.objects.exists()


@pytest.mark.parametrize(
    ("document", "path", "told"),
    [
        ('{"no": json', PATH, "not valid JSON"),
        (manifest(tracking({"$secret": "x"})), PATH, "no plain credential"),
        (manifest(tracking()), "tool_sets[9].authorization.key", "no plain credential"),
        (manifest(tracking(5)), PATH, "only a text"),
        (manifest({**tracking(), "tools": []}), PATH, "does not say which server"),
        (manifest(tracking("two\nlines")), PATH, "line breaks"),
    ],
)
def test_what_cannot_be_moved_is_told_and_nothing_typed_is_lost(operator, document, path, told):
    draft = posted(document, _move=path)

    answer = operator.post(f"{LIST}add/", draft)

    form = answer.context["adminform"].form
    assert told in answer.content.decode()
    assert (form["manifest"].value(), form["title"].value()) == (draft["manifest"], "Typed")
    assert not Secret.objects.exists()


def test_moving_takes_the_permission_to_add_secrets():
    row = make_application(tracking())
    user = make_operator()
    user.is_superuser = False
    user.save()
    codenames = ("view_application", "change_application")
    user.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    client = Client()
    client.force_login(user)

    page = client.get(f"{LIST}{row.pk}/change/").content.decode()
    refused = client.post(f"{LIST}{row.pk}/change/", posted(manifest(tracking()), _move=PATH))

    assert "_move" not in page
    assert refused.status_code == 403
    assert not Secret.objects.exists()


def test_a_name_that_there_is_not_is_told_with_those_that_are_like_it(operator):
    Secret.objects.create(name="tracking", value="x", servers=["https://track.example.org"])
    unknown = manifest(tracking({"$secret": "trakking"}))

    answer = operator.post(f"{LIST}check/", {"manifest": json.dumps(unknown)})

    [finding] = answer.json()["findings"][:1]
    assert (finding["severity"], finding["path"]) == ("error", PATH)
    assert finding["message"] == "there is no secret 'trakking'; did you mean 'tracking'?"


def test_a_secret_that_is_for_another_server_is_a_warning(operator):
    Secret.objects.create(name="tracking", value="x", servers=["https://else.example.org"])

    answer = operator.post(
        f"{LIST}check/", {"manifest": json.dumps(manifest(tracking({"$secret": "tracking"})))}
    )

    found = {finding["path"]: finding["message"] for finding in answer.json()["findings"]}
    assert found[PATH] == (
        "The secret 'tracking' is not meant for https://track.example.org. Add the server to the "
        "secret."
    )
