"""Toolsets of the draft and of the live version are opened in the studio, and their tools called."""

from __future__ import annotations

import json
from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.test import AsyncClient, Client

from apps.catalog.actions import publish
from apps.catalog.credentials.masking import UNKNOWN, mask_credentials
from apps.catalog.models import Application, ApplicationDraft
from tests.capabilities.mcp.servers import WELL_BEHAVED, nothing_left_over, over_stdio, register
from tests.catalog.rows import make_application, make_operator, manifest_with
from tests.console.pages import browser_of, staff_account, words
from tests.console.studio.trials.services import service, shop

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("loopback")]

TOOL = {"place": 0, "name": "shop_look_up"}


def draft(*tool_sets: Any, **more: Any) -> dict[str, Any]:
    return {"title": "Draft", "manifest": manifest_with(tool_sets=list(tool_sets)), **more}


def tried(client: Client, row: Application, body: dict[str, Any], /, **more: Any) -> Any:
    url = f"/admin/catalog/application/{row.pk}/studio/tools/trial/"
    return client.post(url, json.dumps({"place": 0, **body, **more}), "application/json")


def form(**values: str) -> dict[str, str]:
    return {"mode": "form", **{f"argument-{name}": value for name, value in values.items()}}


def test_a_toolset_of_the_draft_shows_its_tools_as_the_model_sees_them(admin_client):
    row = make_application()

    page = tried(admin_client, row, draft(shop()))

    assert "rest-api, 1 tool. Opened alone, as a run opens it." in words(page)
    assert 'data-name="shop_look_up"' in page.text
    assert "Name Type Required Default Constant Description item string yes" in words(page)
    assert "<code>&quot;v1&quot;</code>" in page.text
    assert "&quot;description&quot;: &quot;What to look up.&quot;" in page.text
    assert "Initialization issues" not in page.text
    assert "Find a tool" not in page.text


def test_tools_that_every_run_has_are_listed_apart_and_can_be_tried(admin_client):
    row = make_application()
    clock = "internal_timeawareness_current_timestamp"

    alone = words(tried(admin_client, row, draft(shop())))
    together = words(
        tried(admin_client, row, draft(shop(), {**shop(), "name": "bar"}), place="all")
    )
    called = tried(admin_client, row, draft(), place="all", name=clock, arguments=form())

    assert "Tools (1) shop_look_up" in alone
    assert f"Other tools of every run (2) {clock}" in alone
    assert "Opened together, as a run opens them. Tools (2) shop_look_up" in together
    assert "bar_look_up" in together
    assert "Succeeded" in words(called)


def test_an_application_without_toolsets_still_has_the_tools_of_every_run(admin_client):
    page = words(tried(admin_client, make_application(), draft(), place="all"))

    assert "No toolset offers tools. Other tools of every run (2)" in page


def test_withheld_tools_are_marked(admin_client, settings):
    settings.ENABLE_PREVIEW_FEATURES = True
    row = make_application()
    document = manifest_with(tool_sets=[shop()])
    document["orchestrator"]["tool_discovery"] = {"enabled": True, "min_tools_for_deferral": 1}
    body = {"title": "Draft", "manifest": document}

    listed = words(tried(admin_client, row, body))
    opened = words(tried(admin_client, row, body, name="shop_look_up"))

    assert "shop_look_up withheld until the model searches for it Try shop_look_up" in listed
    assert "The model gets this tool only after it has searched for it." in opened


async def test_hidden_tools_are_marked(settings):
    settings.ENABLE_PREVIEW_FEATURES = True
    await register(WELL_BEHAVED, "stdio")
    row = await database_sync_to_async(make_application)()
    client = AsyncClient()
    await client.aforce_login(await database_sync_to_async(make_operator)())
    toolset = over_stdio(hidden_from_model=["add"])
    url = f"/admin/catalog/application/{row.pk}/studio/tools/trial/"

    async with nothing_left_over():
        body = {"place": 0, **draft(toolset)}
        listed = words(await client.post(url, json.dumps(body), "application/json"))
        body["name"] = "desk_add"
        opened = words(await client.post(url, json.dumps(body), "application/json"))

    assert "desk_add hidden from the model Try desk_add" in listed
    assert "This tool is hidden from the model; the platform calls it." in opened


def test_more_than_eight_tools_can_be_filtered(admin_client):
    row = make_application()
    [one] = shop()["tools"]
    many = [{**one, "open_ai_tool": named(one["open_ai_tool"], f"look_up_{n}")} for n in range(7)]

    page = tried(admin_client, row, draft({**shop(), "tools": many}))

    assert "data-filter" in page.text


def named(described: dict[str, Any], name: str) -> dict[str, Any]:
    return {**described, "function": {**described["function"], "name": name}}


def test_the_live_version_is_tried_beside_the_draft(admin_client):
    with service() as (url, asked):
        row = published(shop(url), {**shop(url), "name": "bar"})
        body = draft({**shop("http://127.0.0.1:9/"), "name": "bar"}, {**shop(url), "name": "new"})
        live = tried(admin_client, row, body, which="live")
        every = words(tried(admin_client, row, body, which="live", place="all"))
        called = tried(
            admin_client, row, body, which="live", name="bar_look_up", arguments=form(item="tea")
        )
        missing = words(tried(admin_client, row, body, which="live", place=1))

    assert 'data-name="bar_look_up"' in live.text
    assert "Tools (2) shop_look_up" in every
    assert "Succeeded" in words(called)
    assert asked == ["/items?item=tea&count=2&version=v1"]
    assert (
        "The live version cannot be opened The application does not have this toolset." in missing
    )


def published(*tool_sets: Any) -> Application:
    row = make_application(manifest=manifest_with(tool_sets=list(tool_sets)))
    publish.execute(row, "First", user=make_operator("publisher"))
    return row


def test_without_a_live_version_only_the_draft_is_tried(admin_client):
    row = make_application()
    Application.objects.update(live_number=0)

    answer = tried(admin_client, row, draft(shop()), which="live")

    assert (answer.status_code, answer.json()) == (
        400,
        {"message": ("The application is not published yet.")},
    )


def test_a_skill_of_the_draft_is_read_before_it_is_saved(admin_client):
    row = make_application()
    text = "---\nname: tone\ndescription: How we write.\n---\n\nBe kind."
    body = draft(skills={"tone": {"SKILL.md": text}})
    read = {"mode": "json", "json": '{"skill_name": "tone"}'}

    page = tried(
        admin_client, row, body, place="all", name="internal_skills_read_skill", arguments=read
    )

    assert "Be kind." in words(page)


def test_issues_are_shown_in_the_words_of_a_run(admin_client):
    page = words(
        tried(
            admin_client,
            make_application(),
            draft({"type": "predefined", "template_name": "wether"}),
        )
    )

    assert "Initialization issues" in page
    assert "tool_sets[0]: There is no predefined toolset 'wether'" in page
    assert "No tool could be opened." in page


def test_a_toolset_that_is_switched_off_says_so(admin_client):
    page = words(tried(admin_client, make_application(), draft({**shop(), "enabled": False})))

    assert "This toolset is disabled." in page


def test_tools_of_the_page_are_named_and_cannot_be_tried(admin_client):
    page = tried(
        admin_client, make_application(), draft({"type": "predefined", "template_name": "page"})
    )

    told = "tools of the chat page: _platform.inspect_page, _platform.set_field"
    assert told in words(page)
    assert "_platform_set_field" not in page.text


def test_the_toolset_of_a_server_shows_its_host_alone(admin_client):
    remote = {
        "type": "mcp",
        "name": "desk",
        "enabled": False,
        "mcp_server_info": {
            "url": "https://tools.example.com/mcp/s3cret?key=s3cret",
            "protocol": "sse",
        },
    }

    page = words(tried(admin_client, make_application(), draft(remote)))

    assert "mcp, tools.example.com. Opened alone" in page
    assert "s3cret" not in page


@pytest.mark.parametrize("name", [None, "x"])
def test_a_draft_that_cannot_be_opened_says_why(admin_client, name):
    broken = draft({"type": "rest-api", "tools": []})

    page = words(tried(admin_client, make_application(), broken, name=name))

    assert "The draft cannot be opened" in page
    assert "tool_sets[0].name: is missing" in page


def test_a_hidden_credential_that_is_not_stored_is_named(admin_client):
    secret = {"type": "bearer", "token": "never-stored"}
    body = draft({**shop(), "authorization": secret})
    body["manifest"] = mask_credentials(body["manifest"])

    page = words(tried(admin_client, make_application(), body))

    assert "never-stored" not in str(body)
    assert f"The draft cannot be opened tool_sets[0].authorization.token: {UNKNOWN}" in page


def test_a_form_is_called_and_shows_what_came_of_it(admin_client):
    row = make_application()
    before = Application.objects.values().get()
    with service() as (url, asked):
        body = draft(shop(url))
        empty = tried(admin_client, row, body, **TOOL).text
        session = dict(admin_client.session)
        typed = form(item="pen", count="5")
        answer = tried(admin_client, row, body, **TOOL, arguments=typed)

    assert (
        'name="argument-count" type="text" inputmode="decimal" autocomplete="off" value="2"'
        in empty
    )
    assert asked == ["/items?item=pen&count=5&version=v1"]
    assert "Succeeded" in answer.text
    assert "&lt;b&gt;3&lt;/b&gt;" in answer.text
    assert "<b>3</b>" not in answer.text
    assert "***item:*** pen" in answer.text
    assert Application.objects.values().get() == before
    assert not ApplicationDraft.objects.exists()
    assert dict(admin_client.session) == session
    assert "no-store" in answer["Cache-Control"]


def test_raw_json_is_sent_as_it_is_written(admin_client):
    row = make_application()
    with service() as (url, asked):
        body = draft(shop(url))
        written = {"mode": "json", "json": '{"item": ""}'}
        sent = tried(admin_client, row, body, **TOOL, arguments=written)
        broken = tried(admin_client, row, body, **TOOL, arguments={"mode": "json", "json": "{"})

    assert asked == ["/items?item=&count=2&version=v1"]
    assert "Succeeded" in sent.text
    assert "The arguments are not valid JSON" in broken.text


def test_an_argument_that_cannot_be_read_is_named_and_nothing_is_called(admin_client):
    with service() as (url, asked):
        typed = form(item="pen", count="many")
        page = tried(admin_client, make_application(), draft(shop(url)), **TOOL, arguments=typed)

    assert asked == []
    assert "Not called: fix these arguments first count: This is not a number." in words(page)


def test_a_failure_names_its_step_and_says_what_to_do(admin_client):
    row = make_application()
    with service(503, b"closed") as (url, _):
        body = draft(shop(url))
        failed = tried(admin_client, row, body, **TOOL, arguments=form(item="pen")).text
        refused = tried(admin_client, row, body, **TOOL, arguments=form()).text

    step = '<li data-state="failed"><span aria-hidden="true">✗</span> '
    assert f"{step}Call the tool" in failed
    assert "Check that its service is running" in failed
    assert f"{step}Check the arguments" in refused
    assert "Parameter item is invalid: it is required but missing." in refused
    assert "Nothing was called." in refused


def test_a_tool_that_is_gone_says_so(admin_client):
    row = make_application()

    opened = tried(admin_client, row, draft(shop()), name="shop_sell")
    called = tried(admin_client, row, draft(shop()), name="shop_sell", arguments=form())

    assert "Unknown tool: shop_sell" in words(opened)
    assert "The tool 'shop_sell' no longer exists" in words(called)


@pytest.mark.parametrize("place", [1, -1, True, "x", None])
def test_a_place_without_a_toolset_is_not_found(admin_client, place):
    row = make_application()

    answers = [
        tried(admin_client, row, draft(shop()), place=place, which=which, **more).status_code
        for which in ("draft", "live")
        for more in ({}, {"name": "shop_look_up"})
    ]

    assert answers == [404] * 4


def test_only_editors_of_the_application_try_it():
    row = make_application()
    viewer = staff_account("viewer", "view_application", "see_all_applications")
    editor = staff_account("editor", "change_application", "access_all_applications")

    clients = (Client(), browser_of(viewer), browser_of(editor))

    assert [tried(client, row, draft(shop())).status_code for client in clients] == [302, 403, 200]


def test_a_call_needs_the_token_of_the_page():
    row = make_application()
    client = Client(enforce_csrf_checks=True)
    client.force_login(make_operator())

    assert tried(client, row, draft(shop()), **TOOL, arguments=form()).status_code == 403


@pytest.mark.parametrize("rest", ["", "0/", "0/shop_look_up/"])
def test_old_addresses_of_trials_lead_to_the_studio(admin_client, rest):
    row = make_application()

    answer = admin_client.get(f"/admin/catalog/application/{row.pk}/try/{rest}")

    studio = f"/admin/catalog/application/{row.pk}/studio/"
    assert (answer.status_code, answer["Location"]) == (302, studio)
