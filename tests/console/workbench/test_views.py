"""The pages on which an operator tries toolsets."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from django.test import Client

from apps.catalog.models import Application
from tests.capabilities.manifests import parameter, tool, tool_set
from tests.catalog.rows import make_application, make_operator, manifest_with
from tests.console.pages import browser_of, staff_account

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("loopback")]

ITEM = parameter("query", "item", description="What to look up.")
COUNT = parameter("query", "count", "integer", description="How many.", default=2)
CONSTANT = {"type": None, "const": "v1", "parameter_info": {"type": "query", "key": "version"}}


@contextmanager
def service(status: int = 200, body: bytes = b"<b>3</b>") -> Iterator[tuple[str, list[str]]]:
    """A service in a thread, and the paths that it was asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(status)
            self.send_header("Content-Type", "text/plain")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, *arguments: Any) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/items", asked
        finally:
            server.shutdown()
            thread.join()


def shop(url: str = "http://127.0.0.1:9/", **rest: Any) -> dict[str, Any]:
    properties = {"item": ITEM, "count": COUNT, "version": CONSTANT}
    return tool_set(tool(url, properties=properties, required=("item",), **rest))


def saved(*tool_sets: Any, slug: str = "travel") -> Application:
    return make_application(slug, manifest=manifest_with(tool_sets=list(tool_sets)))


def place(application: Application, *parts: str) -> str:
    return "/".join((f"/admin/catalog/application/{application.pk}/try", *parts, ""))


def text(client: Client, url: str) -> str:
    answer = client.get(url)
    assert answer.status_code == 200
    return answer.text


def test_toolsets_are_listed_as_they_are_resolved(admin_client):
    predefined = {"type": "predefined", "template_name": "weather"}
    remote = {
        "type": "mcp",
        "name": "desk",
        "mcp_server_info": {
            "url": "https://tools.example.com/mcp/s3cret?key=s3cret",
            "protocol": "sse",
        },
    }
    application = saved(predefined, remote, {**shop(), "enabled": False})

    page = text(admin_client, place(application))

    assert [
        url for url in ("0", "1", "2", "all") if f'href="{place(application, url)}"' in page
    ] == ["0", "1", "all"]
    assert "predefined: weather" in page
    assert "tools.example.com" in page
    assert "s3cret" not in page
    assert "disabled: no run opens it" in page


def test_the_page_of_an_application_leads_there(admin_client):
    application = saved(shop())

    page = text(admin_client, f"/admin/catalog/application/{application.pk}/change/")

    assert f'href="{place(application)}"' in page


def test_a_toolset_shows_its_tools_as_the_model_sees_them(admin_client):
    application = saved(shop())

    page = text(admin_client, place(application, "0"))

    assert f'href="{place(application, "0", "shop_look_up")}"' in page
    assert "What to look up." in page
    assert "<code>&quot;v1&quot;</code>" in page
    assert "Initialization issues" not in page


def test_issues_are_shown_in_the_words_of_a_run(admin_client):
    application = saved({"type": "predefined", "template_name": "wether"})

    page = text(admin_client, place(application, "0"))

    assert "Initialization issues" in page
    assert "tool_sets[0]: There is no predefined toolset &#x27;wether&#x27;" in page
    assert "No tool could be opened." in page


def test_a_broken_application_says_what_is_wrong_with_it(admin_client):
    application = saved({"type": "rest-api", "tools": []})

    for url in (place(application), place(application, "0"), place(application, "0", "x")):
        assert "tool_sets[0].name: is missing" in text(admin_client, url)


def test_a_form_is_called_and_shows_what_came_of_it(admin_client):
    with service() as (url, asked):
        application = saved(shop(url))
        form = text(admin_client, place(application, "0", "shop_look_up"))
        filled = {"mode": "form", "argument-item": "pen", "argument-count": "5"}
        page = admin_client.post(place(application, "0", "shop_look_up"), filled).text

    assert (
        'name="argument-count" type="text" inputmode="decimal" autocomplete="off" value="2"' in form
    )
    assert asked == ["/items?item=pen&count=5&version=v1"]
    assert "It worked" in page
    assert "&lt;b&gt;3&lt;/b&gt;" in page
    assert "<b>3</b>" not in page
    assert "***item:*** pen" in page
    assert 'value="5"' in page


def test_raw_json_is_sent_as_it_is_written(admin_client):
    with service() as (url, asked):
        application = saved(shop(url))
        address = place(application, "0", "shop_look_up")
        sent = admin_client.post(address, {"mode": "json", "json": '{"item": ""}'})
        broken = admin_client.post(address, {"mode": "json", "json": "{"})

    assert asked == ["/items?item=&count=2&version=v1"]
    assert "It worked" in sent.text
    assert "The arguments are not valid JSON" in broken.text


def test_what_cannot_be_read_is_told_at_its_field_and_nothing_is_called(admin_client):
    with service() as (url, asked):
        application = saved(shop(url))
        filled = {"mode": "form", "argument-item": "pen", "argument-count": "many"}
        page = admin_client.post(place(application, "0", "shop_look_up"), filled).text

    assert asked == []
    assert 'value="many"' in page
    assert "This is not a number." in page


def test_a_failure_names_its_step_and_says_what_to_do(admin_client):
    with service(503, b"closed") as (url, _):
        application = saved(shop(url))
        address = place(application, "0", "shop_look_up")
        failed = admin_client.post(address, {"mode": "form", "argument-item": "pen"})
        refused = admin_client.post(address, {"mode": "form"})

    failed_page, refused_page = failed.text, refused.text
    assert '<li data-state="failed"><span aria-hidden="true">✗</span> Call the tool' in failed_page
    assert "See whether its service runs" in failed_page
    assert (
        '<li data-state="failed"><span aria-hidden="true">✗</span> Check the arguments'
        in refused_page
    )
    assert "Parameter item is invalid: it is required but missing." in refused_page
    assert "Nothing was done." in refused_page


def test_the_script_gets_the_outcome_alone(admin_client):
    with service() as (url, _):
        application = saved(shop(url))
        answer = admin_client.post(
            place(application, "0", "shop_look_up"),
            {"mode": "form", "argument-item": "pen"},
            headers={"X-Fragment": "1"},
        )

    assert answer.text.strip().startswith('<section class="workbench-outcome"')


def test_a_tool_that_is_not_there_now_says_so(admin_client):
    application = saved(shop())

    page = text(admin_client, place(application, "0", "shop_sell"))

    assert "There is no tool <code>shop_sell</code> now" in page


@pytest.mark.parametrize("parts", [("1",), ("x",), ("1", "tool")])
def test_there_is_nothing_where_no_toolset_is(admin_client, parts):
    application = saved(shop())

    assert admin_client.get(place(application, *parts)).status_code == 404


def test_only_people_who_may_change_the_application_try_it():
    application = saved(shop())
    viewer = staff_account("viewer", "view_application", "see_all_applications")
    editor = staff_account("editor", "change_application", "access_all_applications")
    urls = [place(application), place(application, "0"), place(application, "0", "shop_look_up")]

    def statuses(client: Client) -> list[int]:
        return [client.get(url).status_code for url in urls] + [client.post(urls[2]).status_code]

    assert statuses(Client()) == [302] * 4
    assert statuses(browser_of(viewer)) == [403] * 4
    assert statuses(browser_of(editor)) == [200] * 4


def test_a_call_needs_the_token_of_a_form():
    application = saved(shop())
    client = Client(enforce_csrf_checks=True)
    client.force_login(make_operator())

    assert client.post(place(application, "0", "shop_look_up")).status_code == 403


def test_nothing_is_stored(admin_client):
    with service() as (url, _):
        application = saved(shop(url))
        before = Application.objects.values().get()
        admin_client.get(place(application))  # notes where the session is used
        session = dict(admin_client.session)
        filled = {"mode": "form", "argument-item": "pen"}
        answer = admin_client.post(place(application, "0", "shop_look_up"), filled)

    assert Application.objects.values().get() == before
    assert dict(admin_client.session) == session
    assert "no-store" in answer["Cache-Control"]


def test_tools_of_the_page_are_listed_and_cannot_be_tried(admin_client):
    application = saved({"type": "predefined", "template_name": "page"})

    listed = text(admin_client, place(application))
    opened = text(admin_client, place(application, "0"))

    told = "tools of the page of a conversation: _platform.inspect_page, _platform.set_field"
    assert told in listed
    assert "_platform_set_field" not in opened
