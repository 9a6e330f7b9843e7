"""The rest of `/api/`: predefined content, secrets, MCP servers, keys and runs."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import pytest
from rest_framework.test import APIClient

from apps.accounts.models import ApiKey, AuditEntry
from apps.catalog.content.installed import expire_content
from apps.catalog.content.models import ContentItem
from apps.console.admin.connect.secret_form import NO_VAULT, TYPE_AGAIN, TYPE_VALUE_OR_PATH
from apps.console.api.secrets import FIXED, NO_ANYWHERE
from apps.live.models import Run
from apps.live.run_summary import RunSummary
from apps.workspace.local.models import McpServer, Secret
from tests.catalog.content.files import write
from tests.catalog.rows import make_application
from tests.console.admin.evaluate.test_feedback import SAID, add_feedback
from tests.console.pages import script_of, staff_account
from tests.insights.calls import model_call, store, tool_use
from tests.tables import each_row

pytestmark = pytest.mark.django_db

VALUE = "sk-very-secret"


def staff(*codes: str, name: str = "vera") -> APIClient:
    return script_of(staff_account(name, *codes))


def paths(answer: Any) -> list[str]:
    return [problem["path"] for problem in answer.json()["errors"]]


# --- Predefined content ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["polite", "missing"])
def test_options_of_an_item_describe_its_address(api, name):
    ContentItem.objects.create(kind="prompt", name="polite", text="Be polite.")

    assert api.options(f"/api/content/prompt/{name}/").status_code == 200


def test_an_item_of_files_is_replaced_by_a_row_and_comes_back(api, settings, tmp_path):
    settings.PREDEFINED_DIR = write(tmp_path, prompt__polite="Be polite.")
    url = "/api/content/prompt/polite/"

    before = api.get(url).json()
    made = api.put(url, {"text": "Be short."})
    stale = api.put(url, {"text": "Be long."}, headers={"If-Match": '"9"'})
    changed = api.put(url, {"text": "Be kind."}, headers={"If-Match": '"1"'})
    listed = api.get("/api/content/?kind=prompt").json()["results"]
    deleted = api.delete(url)

    assert (before["text"], before["layer"], before["version"]) == ("Be polite.", "built in", 0)
    assert (made.status_code, made.json()["text"], made["ETag"]) == (201, "Be short.", '"1"')
    assert (stale.status_code, changed.status_code) == (412, 200)
    assert listed == [
        {"kind": "prompt", "name": "polite", "layer": "database", "layers": 2, "problems": []}
    ]
    assert (deleted.status_code, api.get(url).json()["text"]) == (204, "Be polite.")
    assert api.delete(url).status_code == 405


def test_an_item_that_could_not_be_used_is_refused_with_the_words_of_the_admin(api):
    broken = api.put("/api/content/tool/bad/", {"text": "{"})
    unknown = api.put("/api/content/poem/x/", {"text": "x"})

    assert (broken.status_code, paths(broken)) == (400, ["text"])
    assert (unknown.status_code, paths(unknown)) == (400, ["kind"])
    assert not ContentItem.objects.exists()


def test_content_takes_the_permission_to_add_and_to_change(api):
    api.put("/api/content/prompt/mine/", {"text": "One."})
    viewer = staff("view_contentitem")
    adder = staff("view_contentitem", "add_contentitem", name="adam")

    assert viewer.get("/api/content/prompt/mine/").status_code == 200
    assert viewer.put("/api/content/prompt/new/", {"text": "x"}).status_code == 403
    assert viewer.delete("/api/content/prompt/mine/").status_code == 403
    assert adder.put("/api/content/prompt/new/", {"text": "x"}).status_code == 201
    assert adder.put("/api/content/prompt/mine/", {"text": "x"}).status_code == 403
    assert staff(name="nobody").get("/api/content/").status_code == 403


# --- Secrets and MCP servers ----------------------------------------------------------------------


def test_a_secret_is_written_rotated_and_never_told(api):
    url = "/api/secrets/jira/"
    made = api.post(
        "/api/secrets/", {"name": "jira", "value": VALUE, "servers": ["jira.example.com"]}
    )
    answers = [made, api.get(url), api.get("/api/secrets/"), api.patch(url, {"description": "x"})]
    moved = api.patch(url, {"servers": ["evil.example.com"]})
    renamed = api.patch(url, {"name": "other"})
    empty = api.post("/api/secrets/", {"name": "other", "servers": ["a.example.com"]})

    assert [one.status_code for one in answers] == [201, 200, 200, 200]
    assert all(VALUE not in one.text for one in answers)
    assert moved.json()["errors"] == [{"path": "value", "message": TYPE_AGAIN}]
    assert renamed.json()["errors"] == [{"path": "name", "message": FIXED}]
    assert paths(empty) == ["value"]
    row = Secret.objects.get()
    assert (row.value, row.created_by, row.rotated_at is not None) == (VALUE, row.changed_by, True)


def test_a_path_in_vault_takes_a_permission_and_its_value_again(api, settings):
    settings.VAULT_URL = "https://vault.example.org"
    client = staff("add_secret", "view_secret", "change_secret")
    body = {
        "name": "shop",
        "value": "secret/data/shop#token",
        "is_in_vault": True,
        "servers": ["a.example.com"],
    }

    refused = client.post("/api/secrets/", body)
    wrong = api.post("/api/secrets/", {**body, "value": "shop"})
    made = api.post("/api/secrets/", body)
    switched = api.patch("/api/secrets/shop/", {"is_in_vault": False})

    assert refused.json()["errors"] == [{"path": "is_in_vault", "message": NO_VAULT}]
    assert paths(wrong) == ["value"]
    assert (made.status_code, made.json()["is_in_vault"]) == (201, True)
    assert switched.json()["errors"] == [{"path": "value", "message": TYPE_VALUE_OR_PATH}]


def test_a_secret_goes_anywhere_with_a_permission_only_and_stays_while_it_is_named(api):
    client = staff("add_secret", "view_secret", "change_secret")
    body = {"name": "any", "value": VALUE, "is_for_any_server": True}

    refused = client.post("/api/secrets/", body)
    api.post("/api/secrets/", body)
    rest: dict[str, Any] = {
        "type": "rest-api",
        "name": "R",
        "base_url": "https://a.example.com",
        "tools": [],
    }
    rest["headers"] = {"Authorization": {"$secret": "any"}}
    ContentItem.objects.create(kind="toolset", name="r", text=json.dumps(rest))

    assert refused.json()["errors"] == [{"path": "is_for_any_server", "message": NO_ANYWHERE}]
    assert client.delete("/api/secrets/any/").status_code == 403
    expire_content()
    used = api.delete("/api/secrets/any/")
    assert (used.status_code, used.json()["detail"]) == (
        409,
        "The secret is used by toolset r. Remove it there first.",
    )


def test_mcp_servers_are_for_administrators_and_keep_their_variables_to_themselves(api):
    made = api.post(
        "/api/mcp-servers/",
        {"name": "files", "command": "uvx", "arguments": ["x"], "environment": {"TOKEN": VALUE}},
    )
    kept = api.patch("/api/mcp-servers/files/", {"arguments": []})
    wrong = api.patch("/api/mcp-servers/files/", {"working_directory": "here"})
    emptied = api.patch("/api/mcp-servers/files/", {"environment": {}})

    assert (made.status_code, made.json()["variables"]) == (201, ["TOKEN"])
    assert VALUE not in made.text + kept.text
    assert (kept.json()["variables"], paths(wrong)) == (["TOKEN"], ["working_directory"])
    assert (emptied.json()["variables"], McpServer.objects.get().environment) == ([], "")
    every = staff("view_mcpserver", "add_mcpserver", "change_mcpserver")
    assert every.get("/api/mcp-servers/").status_code == 403


# --- Keys -----------------------------------------------------------------------------------------


def test_a_key_is_told_once_and_revoked_for_good(api):
    make_application("travel")
    made = api.post("/api/keys/", {"name": "CI", "applications": ["travel"]}).json()
    url = f"/api/keys/{made['prefix']}/"
    known = ApiKey.objects.get_from_key(made["key"])

    revoked = api.patch(url, {"revoked": True}).json()

    assert known.name == "CI"
    assert (made["user"], made["is_limited"], made["applications"]) == (None, True, ["travel"])
    assert (revoked["key"], revoked["revoked"]) == (None, True)
    assert paths(api.patch(url, {"revoked": False})) == ["revoked"]
    assert paths(api.patch(url, {"user": "operator"})) == ["user"]
    assert paths(api.post("/api/keys/", {"name": "x", "expiry_date": "2001-01-01"})) == [
        "expiry_date"
    ]


def test_who_does_not_edit_all_applications_makes_keys_for_themselves_alone(api):
    make_application("hidden", is_public=False, is_shared=False)
    api.post("/api/keys/", {"name": "Of the installation"})
    client = staff("add_apikey", "view_apikey", "change_apikey")

    made = client.post("/api/keys/", {"name": "Mine"}).json()
    other = client.post("/api/keys/", {"name": "x", "user": None})
    scoped = client.post("/api/keys/", {"name": "x", "applications": ["hidden"]})

    assert made["user"] == "vera"
    assert (paths(other), paths(scoped)) == (["user"], ["applications"])
    assert [one["name"] for one in client.get("/api/keys/").json()["results"]] == ["Mine"]


# --- Runs -----------------------------------------------------------------------------------------


def going(**fields: Any) -> Run:
    ids = {"stream": uuid4(), "request": uuid4()}
    return Run.objects.create(**{**ids, "application": "travel", "bucket": "user-1", **fields})


def test_runs_are_listed_found_read_and_stopped(api):
    make_application("travel")
    done = RunSummary.objects.create(
        door="gateway",
        application="travel",
        bucket="key-1",
        status="failed",
        error_reference="1a2b",
    )
    store(model_call(run=done.pk, application="travel"), tool_use(run=done.pk, tool="search"))
    run = going()

    listed = api.get("/api/runs/").json()
    found = api.get("/api/runs/?q=1A2B&tool=search").json()["results"]
    read = api.get(f"/api/runs/{done.pk}/").json()
    stopped = api.post(f"/api/runs/{run.pk}/stop/")

    assert [one["id"] for one in listed["results"]] == [str(run.pk), str(done.pk)]
    assert (listed["count"], listed["results"][0]["status"]) == (2, "running")
    assert [one["id"] for one in found] == [str(done.pk)]
    assert [(one["kind"], one["name"]) for one in read["spans"]] == [
        ("model", "gpt"),
        ("tool", "search"),
    ]
    assert (stopped.status_code, api.post(f"/api/runs/{done.pk}/stop/").status_code) == (202, 409)
    run.refresh_from_db()
    assert run.is_stop_requested
    assert api.get("/api/runs/?version=x").status_code == 400
    assert api.get(f"/api/runs/{uuid4()}/").status_code == 404


def test_contents_of_runs_are_read_with_a_right_and_every_attempt_is_in_the_audit(api):
    make_application("travel")
    run = going()
    reader = staff("view_runsummary", "view_run", "see_all_applications")

    refused = reader.get(f"/api/runs/{run.pk}/requests/")
    read = api.get(f"/api/runs/{run.pk}/requests/")
    hidden = staff("view_runsummary", "view_run", "change_run", name="other")

    assert (refused.status_code, read.status_code, read.json()) == (403, 200, [])
    events = AuditEntry.objects.filter(run=run.pk).order_by("pk").values_list("event", flat=True)
    assert [*events] == ["access.denied", "contents.read"]
    assert reader.post(f"/api/runs/{run.pk}/stop/").status_code == 403
    assert hidden.get("/api/runs/").json()["count"] == 0
    assert hidden.post(f"/api/runs/{run.pk}/stop/").status_code == 404


def test_a_list_of_runs_takes_fifteen_queries_at_most(api, django_assert_max_num_queries):
    rows = (
        RunSummary(door="page", application="travel", bucket=f"user-{place}", status="done")
        for place in range(150)
    )
    RunSummary.objects.bulk_create(rows)
    api.get("/api/runs/")

    with django_assert_max_num_queries(15):
        assert len(api.get("/api/runs/?page=2").json()["results"]) == 50


# --- Feedback --------------------------------------------------------------------------------------


ADDRESS = "/api/feedback/"


def test_scripts_list_feedback_and_change_its_state_and_note_alone(api):
    row = add_feedback(make_application(), application_version=3)
    add_feedback(make_application("other"), rating="up", reason="")

    found = api.get(f"{ADDRESS}?application=travel&version=3&rating=down&since=2020-01-01")
    changed: Any = api.patch(f"{ADDRESS}{row.pk}/", {"state": "in_work", "comment": "Great!"})
    wrong = api.get(f"{ADDRESS}?version=three")

    [told] = found.data["results"]
    assert (told["id"], told["application"], told["state"]) == (row.pk, "travel", "new")
    assert "transcript" not in told
    row.refresh_from_db()
    assert (changed.status_code, row.state, row.comment) == (200, "in_work", "No.")
    assert wrong.status_code == 400


def test_the_transcript_is_told_where_it_was_sent_along_and_recorded(api):
    shared = add_feedback(make_application(), transcript=SAID, shares_transcript=True)
    kept = add_feedback(make_application("other"))

    read = api.get(f"{ADDRESS}{shared.pk}/transcript/")
    refused = api.get(f"{ADDRESS}{kept.pk}/transcript/")

    assert (read.status_code, read.data) == (200, SAID)
    assert refused.status_code == 403
    events = AuditEntry.objects.order_by("pk").values_list("event", flat=True)
    assert list(events) == ["contents.read", "access.denied"]


@pytest.mark.postgres
@each_row("address", ["/api/feedback/", "/api/runs/"])
@each_row("name", ["since", "until"])
@each_row("moment", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_a_time_that_no_database_has_is_a_wrong_filter(address, name, moment, api):
    answer = api.get(address, {name: moment})

    assert (answer.status_code, answer.data["detail"]) == (400, "The query has invalid parameters.")
    [problem] = answer.data["errors"]
    assert problem["path"] == name
    assert "can’t be used. Enter a date from 1900 to 2199" in problem["message"]


@each_row(("address", "name"), [("feedback", "version"), ("runs", "version"), ("runs", "hours")])
@each_row("written", ["abc", "1.5", "-1", "9" * 5000, "9" * 15])
def test_a_filter_that_is_no_number_is_refused_with_its_name(address, name, written, api):
    answer = api.get(f"/api/{address}/", {name: written})

    assert (answer.status_code, answer.data) == (
        400,
        {
            "detail": "The query has invalid parameters.",
            "errors": [
                {
                    "path": name,
                    "message": f"{written[:40]!r} is not a whole number. Enter a whole number, such as 10.",
                }
            ],
        },
    )
