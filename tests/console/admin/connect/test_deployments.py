from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from asgiref.sync import async_to_sync
from django.test import Client

from apps.catalog.models import Change
from apps.workspace.local.deployments.fallbacks import breaker_store, key_of_row
from apps.workspace.local.models import Deployment
from tests.catalog.rows import make_application, make_deployment
from tests.console.pages import browser_of, staff, staff_account

pytestmark = pytest.mark.django_db

LIST = "/admin/workspace/deployment/"
SECRET = "sk-very-secret"


def fields(**changes: str) -> dict[str, str]:
    valid = {
        "deployment_id": "gpt",
        "display_name": "GPT",
        "description": "",
        "is_enabled": "on",
        "kind": "chat",
        "provider": "openai",
        "base_url": "https://api.example.com/v1",
        "model_name": "gpt",
        "new_api_key": "",
        "api_key_env": "",
        "features": "{}",
        "input_attachment_types": "[]",
        "context_window": "",
        "parameters": "{}",
        "prices-TOTAL_FORMS": "0",
        "prices-INITIAL_FORMS": "0",
    }
    return {**valid, **changes}


def test_a_key_is_stored_and_never_shown_again(admin_client):
    admin_client.post(f"{LIST}add/", fields(new_api_key=SECRET))

    deployment = Deployment.objects.get()
    page = admin_client.get(f"{LIST}{deployment.pk}/change/").text
    assert deployment.api_key == SECRET
    assert "A key is stored." in page
    assert SECRET not in page
    assert SECRET not in admin_client.get(LIST).text


def test_a_form_that_is_shown_again_does_not_hold_the_key(admin_client):
    answer = admin_client.post(f"{LIST}add/", fields(new_api_key=SECRET, base_url=""))

    assert answer.status_code == 200
    assert SECRET not in answer.text


@pytest.mark.parametrize(
    ("changes", "stored"),
    [({}, SECRET), ({"new_api_key": "sk-new"}, "sk-new"), ({"clear_api_key": "on"}, "")],
)
def test_a_stored_key_stays_until_it_is_replaced_or_removed(admin_client, changes, stored):
    deployment = make_deployment("gpt", base_url=fields()["base_url"], api_key=SECRET)

    offered = [
        "Remove the stored key" in admin_client.get(f"{LIST}{page}").text
        for page in (f"{deployment.pk}/change/", "add/")
    ]
    admin_client.post(f"{LIST}{deployment.pk}/change/", fields(**changes))

    assert Deployment.objects.get().api_key == stored
    assert offered == [True, False]


def test_replacing_and_removing_at_once_is_refused(admin_client):
    deployment = make_deployment("gpt", api_key=SECRET)
    both = fields(new_api_key="sk-new", clear_api_key="on")

    answer = admin_client.post(f"{LIST}{deployment.pk}/change/", both)

    assert answer.status_code == 200
    assert Deployment.objects.get().api_key == SECRET


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("features", "[]"),
        ("features", "{"),
        ("parameters", "3"),
        ("input_attachment_types", '{"a": 1}'),
        ("base_url", ""),
        ("api_key_env", "SECRET_KEY"),
        ("deployment_id", "a b"),
    ],
)
def test_mistakes_stand_at_their_fields(admin_client, field, value):
    answer = admin_client.post(f"{LIST}add/", fields(**{field: value}))

    assert list(answer.context["adminform"].form.errors) == [field]


def test_the_demo_model_answers(admin_client):
    answer = admin_client.post(f"{LIST}test/", fields(provider="demo"))

    assert answer.json()["ok"] is True


def test_the_built_in_embedding_model_answers(admin_client):
    answer = admin_client.post(f"{LIST}test/", fields(provider="minilm", kind="embedding"))

    told = {"ok": True, "message": "The model returns vectors with 384 dimensions."}
    assert answer.json() == told


@pytest.mark.usefixtures("loopback")
def test_an_embedding_model_is_tested_by_a_word(admin_client, service):
    url = f"http://127.0.0.1:{service.server_port}/v1"
    typed = fields(kind="embedding", base_url=url, new_api_key=SECRET)

    answer = admin_client.post(f"{LIST}test/", typed)

    told = {"ok": False, "message": "The service does not accept the API key. Check the key."}
    assert (answer.json(), service.seen) == (told, [f"Bearer {SECRET}"])


class Refusing(BaseHTTPRequestHandler):
    status = 401

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.seen.append(self.headers["Authorization"])  # type: ignore[attr-defined]
        self.send_response(self.status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(b'{"error": {"message": "no"}}')

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def service() -> Iterator[HTTPServer]:
    """A service that refuses every key. `seen` has the keys of its requests."""
    with HTTPServer(("127.0.0.1", 0), Refusing) as server:
        server.seen = []  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.mark.usefixtures("loopback")
def test_no_service_is_asked_for_a_picture_to_test_it(admin_client, service):
    place = f"http://127.0.0.1:{service.server_port}/v1"

    answer = admin_client.post(f"{LIST}test/", fields(kind="image", base_url=place))

    assert answer.json()["ok"] is False
    assert answer.json()["message"].startswith("Not tested, because images can cost money.")
    assert service.seen == []


@pytest.mark.usefixtures("loopback")
@pytest.mark.parametrize("provider", ["openai", "openai_responses"])
def test_a_refused_key_is_named_and_nothing_is_saved(admin_client, service, provider):
    url = f"http://127.0.0.1:{service.server_port}/v1"
    deployment = make_deployment("gpt", base_url=url, api_key=SECRET)

    answer = admin_client.post(
        f"{LIST}test/", {**fields(base_url=url, provider=provider), "test_pk": str(deployment.pk)}
    )

    found = answer.json()
    assert (found["ok"], found["message"]) == (
        False,
        "The service does not accept the API key. Check the key.",
    )
    assert service.seen == [f"Bearer {SECRET}"]
    assert Deployment.objects.get().provider == Deployment.Provider.DEMO


def test_a_stored_key_is_not_sent_to_another_address(admin_client, service, loopback):
    """A user who cannot read a key cannot send it to their own server either."""
    deployment = make_deployment(
        "gpt", provider="openai", base_url="https://api.example.com/v1", api_key=SECRET
    )
    url = f"http://127.0.0.1:{service.server_port}/v1"

    answer = admin_client.post(
        f"{LIST}test/", {**fields(base_url=url), "test_pk": str(deployment.pk)}
    )

    saved = admin_client.post(f"{LIST}{deployment.pk}/change/", fields(base_url=url))

    assert answer.json()["message"] == (
        "Not tested. API key: The key was stored for another server. Enter it again, or remove it."
    )
    assert saved.context["adminform"].form.errors == {
        "new_api_key": ["The key was stored for another server. Enter it again, or remove it."]
    }
    assert service.seen == []


def test_a_stored_key_is_not_sent_to_another_vendor(admin_client):
    """Without a base URL, the provider determines where the key is sent."""
    deployment = make_deployment("claude", provider="anthropic", base_url="", api_key=SECRET)
    page = f"{LIST}{deployment.pk}/change/"

    saved = admin_client.post(page, fields(provider="openai_responses", base_url=""))

    assert "new_api_key" in saved.context["adminform"].form.errors


def test_a_test_is_for_people_who_may_save():
    client = browser_of(staff_account("staff"))

    assert client.post(f"{LIST}test/", fields()).status_code == 403


def test_what_cannot_be_saved_is_not_tested(admin_client):
    answer = admin_client.post(f"{LIST}test/", fields(base_url=""))

    assert answer.json()["message"] == (
        "Not tested. Base URL: Required for an OpenAI-compatible service."
    )


@pytest.mark.parametrize(
    ("model", "named"),
    [
        ("meta/llama 3", ("meta-llama-3", "meta/llama 3")),
        ("gpt", ("gpt-2", "gpt")),
    ],
)
def test_an_empty_id_and_name_are_derived_from_the_model(admin_client, model, named):
    make_deployment("gpt")
    typed = fields(model_name=model, deployment_id="", display_name="")

    admin_client.post(f"{LIST}add/", typed)

    row = Deployment.objects.latest("pk")
    assert (row.deployment_id, row.display_name) == named


def test_without_a_model_the_id_is_required(admin_client):
    typed = fields(model_name="", deployment_id="", display_name="")

    answer = admin_client.post(f"{LIST}add/", typed)

    assert answer.context["adminform"].form.errors["deployment_id"] == [
        "Enter an ID, or a model name to derive it from."
    ]


@pytest.mark.parametrize(
    ("query", "page"), [("", LIST), ("?next=application", "/admin/catalog/application/new/")]
)
def test_the_first_model_leads_to_a_new_application(admin_client, query, page):
    answer = admin_client.post(f"{LIST}add/{query}", {**fields(), "_save": "Save"})

    assert answer.url == page


# --- The models of a service ---------------------------------------------------------------------

LISTED = [
    {
        "id": "claude-opus-5",
        "display_name": "Claude Opus 5",
        "max_input_tokens": 200_000,
        "max_tokens": 64_000,
        "capabilities": {
            "image_input": {"supported": True},
            "pdf_input": {"supported": True},
            "thinking": {
                "types": {"adaptive": {"supported": True}, "enabled": {"supported": False}}
            },
        },
    },
    {
        "id": "claude-old",
        "display_name": "Claude Old",
        "capabilities": {"thinking": {"types": {"enabled": {"supported": True}}}},
    },
    {"id": "org/model:1"},
    {"id": 3},
]


class Listing(Refusing):
    def do_GET(self) -> None:
        seen = (self.path, self.headers["Authorization"])
        self.server.seen.append(seen)  # type: ignore[attr-defined]
        body = json.dumps({"data": LISTED}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Missing(Listing):
    status = 404


@pytest.fixture
def listing(service: HTTPServer, loopback: None) -> HTTPServer:
    """A service that lists its models and refuses all calls."""
    service.RequestHandlerClass = Listing
    return service


def claude(service: HTTPServer, **changes: str) -> Deployment:
    row = {"provider": "anthropic", "api_key": SECRET, "model_name": "claude-old", **changes}
    return make_deployment("claude", base_url=f"http://127.0.0.1:{service.server_port}/v1", **row)


def test_models_of_a_service_are_added_with_what_it_says_of_them(admin_client, listing):
    source = claude(listing)
    make_deployment("claude-opus-5", provider="demo")
    page = f"{LIST}{source.pk}/models/"

    shown = admin_client.get(page).text
    ticked = {"model": ["claude-opus-5", "claude-old", "org/model:1", "of nobody"]}
    admin_client.post(page, ticked)

    assert 'value="claude-opus-5"' in shown
    assert 'value="claude-old"' not in shown
    assert SECRET not in shown
    assert listing.seen == [("/v1/models?limit=1000", f"Bearer {SECRET}")] * 2
    columns = ("deployment_id", "display_name", "model_name", "api_key", "features")
    added = Deployment.objects.exclude(pk=source.pk).filter(provider="anthropic")
    assert list(added.order_by("deployment_id").values_list(*columns)) == [
        ("claude-opus-5-2", "Claude Opus 5", "claude-opus-5", SECRET, {}),
        ("org-model-1", "org/model:1", "org/model:1", SECRET, {}),
    ]
    opus = added.get(model_name="claude-opus-5")
    assert (opus.context_window, opus.max_output_tokens, opus.input_attachment_types) == (
        200_000,
        64_000,
        ["image/*", "application/pdf"],
    )
    assert (opus.vision, opus.documents, opus.reasoning, opus.tools) == (True, True, None, None)


def test_older_models_are_told_to_think_with_a_budget(admin_client, listing):
    source = claude(listing, model_name="other")

    admin_client.post(f"{LIST}{source.pk}/models/", {"model": ["claude-old"]})

    assert Deployment.objects.get(model_name="claude-old").features == {"thinking": "budget"}


def test_a_service_that_refuses_its_list_is_told(admin_client, service, loopback):
    source = claude(service, provider="openai")

    page = admin_client.get(f"{LIST}{source.pk}/models/").text

    assert "The list of models is not available." in page
    assert "The service returned HTTP status 501." in page


def test_the_list_is_for_people_who_may_add_and_for_services_that_have_one(admin_client, listing):
    client = staff("change_deployment", "view_deployment")
    source, demo = claude(listing), make_deployment("demo", provider="demo")
    page, form = f"{LIST}{source.pk}/models/", f"{LIST}{source.pk}/change/"

    assert (client.get(page).status_code, client.post(page).status_code) == (403, 403)
    assert "Add more models" not in client.get(form).text
    assert "Add more models" in admin_client.get(form).text
    assert admin_client.get(f"{LIST}{demo.pk}/models/").status_code == 404
    assert listing.seen == []


def test_a_model_that_the_service_does_not_list_is_named(admin_client, listing):
    listing.RequestHandlerClass = Missing
    url = f"http://127.0.0.1:{listing.server_port}/v1"
    typed = fields(base_url=url, new_api_key=SECRET, model_name="gpt-9")

    answer = admin_client.post(f"{LIST}test/", typed)

    assert answer.json()["message"] == "The service has no model 'gpt-9'."


def test_a_test_of_the_connection_names_the_models_of_the_service(admin_client, listing):
    url = f"http://127.0.0.1:{listing.server_port}/v1"
    typed = fields(provider="anthropic", base_url=url, new_api_key=SECRET, model_name="")

    answer = admin_client.post(f"{LIST}test/", typed)

    assert answer.json()["message"] == "The service does not accept the API key. Check the key."
    assert answer.json()["models"] == ["claude-old", "claude-opus-5", "org/model:1"]


def test_a_test_of_the_connection_tells_what_the_model_can_do(admin_client, listing):
    url = f"http://127.0.0.1:{listing.server_port}/v1"
    typed = fields(provider="anthropic", base_url=url, new_api_key=SECRET)

    told = admin_client.post(f"{LIST}test/", {**typed, "model_name": "claude-opus-5"}).json()

    assert (told["known"]["tools"], told["known"]["audio_input"]) == (
        "Default: yes",
        "Default: not known yet",
    )
    assert told["told"] == {
        "vision": True,
        "documents": True,
        "context_window": 200_000,
        "max_output_tokens": 64_000,
    }


# --- What a model can do -------------------------------------------------------------------------


def options(page: str, name: str) -> list[str]:
    """Return the choices of a field, with the selected one in brackets."""
    select = page.partition(f'<select name="{name}"')[2].partition("</select>")[0]
    found = re.findall(r"<option value=\"\w+\"( selected)?[^>]*>([^<]+)<", select)
    return [f"[{label}]" if is_chosen else label for is_chosen, label in found]


def test_the_form_shows_what_is_known_and_what_the_operator_says(admin_client):
    row = make_deployment(
        "gpt", provider="openai", base_url="http://h/v1", model_name="gpt-3.5-turbo", vision=True
    )

    page = admin_client.get(f"{LIST}{row.pk}/change/").text

    assert options(page, "tools") == ["[Default: yes]", "Yes", "No"]
    assert options(page, "vision") == ["Default: no", "[Yes]", "No"]
    assert options(page, "caching") == ["[Default: not known yet]", "Yes", "No"]
    assert 'In tokens. <span data-known="context_window">Default: 16,385</span>.' in page
    assert '<span data-known="max_output_tokens">Default: 4,096</span>.' in page


def test_the_operators_word_is_kept(admin_client):
    said = {"tools": "false", "text_tools": "on", "vision": "true", "caching": "unknown"}

    admin_client.post(f"{LIST}add/", fields(**said, max_output_tokens="500"))

    row = Deployment.objects.get()
    assert (row.tools, row.text_tools, row.vision, row.caching) == (False, True, True, None)
    assert row.max_output_tokens == 500


def test_an_answer_has_a_token_at_least(admin_client):
    page = admin_client.post(f"{LIST}add/", fields(max_output_tokens="0")).text

    assert "Ensure this value is greater than or equal to 1." in page
    assert '<details class="more-options" open>' in page
    assert not Deployment.objects.exists()


def test_the_list_tells_in_words_what_models_can_do(admin_client):
    for name, columns in {
        "known": {"model_name": "gpt-3.5-turbo"},
        "without": {"model_name": "o1-mini"},
        "own": {"model_name": "own-model"},
        "vectors": {"model_name": "gpt-4o", "kind": "embedding"},
    }.items():
        make_deployment(name, provider="openai", base_url="http://h/v1", **columns)

    page = admin_client.get(LIST).text

    cells = re.findall(r'<span title="([^"]*)">([^<]*)</span>', page)
    assert {shown for _, shown in cells} == {
        "tools, parallel tool calls",
        "no tools, thinking, caching",
        "Not known yet",
    }
    assert page.count(">Test now</a>") == 1
    assert (
        "Yes: tools, parallel tool calls. No: pictures, documents, sound, speech, JSON schemas, "
        "thinking. Not known yet: caching. Context window: 16,385 tokens. Maximum output: 4,096 tokens."
    ) in {details for details, _ in cells}


def test_a_word_of_the_operator_can_be_restored(admin_client):
    row = make_deployment("gpt", vision=False)
    changed = Deployment.objects.get(pk=row.pk)
    changed.vision = None
    changed.save()
    change = Change.objects.filter(object_id=row.pk).latest("pk")
    page = f"{LIST}{row.pk}/history/{change.pk}/restore/before/"

    admin_client.post(page, {"seen_version": str(changed.version)})

    assert Deployment.objects.get(pk=row.pk).vision is False


# --- Fallbacks and breakers ------------------------------------------------------------------------


def fail(row: Deployment, times: int) -> None:
    for _ in range(times):
        async_to_sync(breaker_store().failed)(key_of_row(row.pk, row.version))


def breakers_shown(client: Client) -> dict[str, str]:
    listed = client.get(LIST).context["cl"]
    return {row.deployment_id: listed.model_admin.breaker(row) for row in listed.result_list}


def test_fallbacks_are_saved_in_the_order_of_their_lines(admin_client):
    make_deployment("b")
    make_deployment("a")

    admin_client.post(f"{LIST}add/", fields(fallbacks="b\r\n\r\n a \r\n"))

    assert Deployment.objects.get(deployment_id="gpt").fallbacks == ["b", "a"]


def test_a_mistake_stands_at_the_field_and_nothing_is_saved(admin_client):
    answer = admin_client.post(f"{LIST}add/", fields(fallbacks="gone"))

    assert answer.context["adminform"].form.errors == {
        "fallbacks": [
            "Unknown deployment: 'gone'. Use the ID of a deployment of this installation."
        ]
    }
    assert not Deployment.objects.exists()


def test_what_can_be_chosen_is_offered_and_what_is_skipped_says_why(admin_client):
    row = make_deployment("a", fallbacks=["gone", "off"])
    make_deployment("off", is_enabled=False)
    make_deployment("picture", kind="image")
    make_deployment("b", display_name="<b>")

    page = admin_client.get(f"{LIST}{row.pk}/change/")

    choices = page.context["adminform"].form.fields["fallbacks"].widget.choices
    assert [(one.deployment_id, one.problem) for one in choices] == [
        ("b", ""),
        ("off", "skipped: disabled"),
        ("gone", "skipped: this chat model no longer exists"),
    ]
    assert "&lt;b&gt;" in page.text


def test_an_open_breaker_is_shown_and_can_be_closed(admin_client, monkeypatch):
    monkeypatch.setattr("apps.workspace.local.deployments.fallbacks.FAILURES", 2)
    a, b, _ = make_deployment("a"), make_deployment("b"), make_deployment("e", kind="embedding")
    fail(a, 2)
    fail(b, 1)

    before = breakers_shown(admin_client)
    admin_client.post(LIST, {"action": "close_breakers", "_selected_action": [a.pk, b.pk]})
    after = breakers_shown(admin_client)

    assert before["a"].startswith("Open until ")
    assert (before["b"], before["e"]) == ("Closed", "None")
    assert after == {"a": "Closed", "b": "Closed", "e": "None"}


def test_a_deployment_that_is_saved_begins_with_a_closed_breaker(admin_client, monkeypatch):
    monkeypatch.setattr("apps.workspace.local.deployments.fallbacks.FAILURES", 1)
    row = make_deployment("a")
    fail(row, 1)

    row.save()

    assert breakers_shown(admin_client) == {"a": "Closed"}


def test_before_a_deployment_goes_those_that_rely_on_it_are_named(admin_client):
    row = make_deployment("a")
    make_deployment("b", display_name="Bee", fallbacks=["a"])

    page = admin_client.get(f"{LIST}{row.pk}/delete/").text

    assert "These use a as a fallback and continue without it:</p><ul><li>Bee</li></ul>" in page


def test_before_a_deployment_goes_the_applications_that_use_it_are_named(admin_client):
    row = make_deployment("gpt")
    manifest = {"orchestrator": {"deployment": {"name": "gpt"}}}
    application = make_application("travel", manifest=manifest)
    form = {"action": "delete_selected", "_selected_action": [row.pk]}

    pages = (admin_client.get(f"{LIST}{row.pk}/delete/"), admin_client.post(LIST, form))

    link = f'href="/admin/catalog/application/{application.pk}/studio/"'
    for page in pages:
        assert "These use gpt and can no longer call it afterwards:" in page.text
        assert "application Travel</a> <code>orchestrator.deployment.name</code>" in page.text
    assert link in pages[0].text
