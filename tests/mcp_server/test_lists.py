"""The server lists and reads tools, prompts and files for callers that may use them."""

from __future__ import annotations

import errno
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import OperationalError

from apps.accounts.models import ApiKey
from apps.errors import GENERIC
from apps.mcp_server import tools
from apps.mcp_server.resource_uris import TEMPLATE
from apps.outages import DATABASE, STORAGE
from apps.runs.workspaces import open_workspace
from apps.workspace.local.files import files
from tests.catalog.rows import manifest_with
from tests.gateway.scripts import Client, add_application
from tests.mcp_server.scripts import HANDSHAKE, MODERN, error_of, request, result_of, site
from tests.tables import each_row

LOST = OSError(errno.EIO, "This is not the folder of the installation's files", "/srv/files")

pytestmark = pytest.mark.django_db


async def make_key() -> tuple[str, str]:
    """Return a key, and the bucket of its files."""
    row, key = await sync_to_async(ApiKey.objects.create_key)(name="mcp")
    return key, f"key-{row.prefix}"


async def test_tools_come_in_pages(monkeypatch):
    monkeypatch.setattr(tools, "PAGE_SIZE", 2)
    slugs = sorted([(await add_application()).slug for _ in range(3)])
    found: list[str] = []
    cursor: str | None = None
    while cursor is not None or not found:
        params: dict[str, Any] = {} if cursor is None else {"cursor": cursor}
        page = result_of(await request(site(), "tools/list", params))
        found += [tool["name"] for tool in page["tools"]]
        cursor = page.get("nextCursor")

    assert [name for name in found if name in slugs] == slugs


async def test_a_foreign_cursor_is_refused():
    status, error = error_of(await request(site(), "tools/list", {"cursor": "a\0"}))

    assert (status, error["code"]) == (400, -32602)


def test_the_name_of_a_version_is_one_that_every_model_takes():
    assert tools.tool_name("travel") == "travel"
    assert tools.tool_name("travel@3") == "travel_3_cea408c9"
    assert len(tools.tool_name("a/" * 100)) == 64


async def test_one_application_has_an_address_of_its_own():
    application = await add_application()
    await add_application()

    listed = result_of(await request(site(), "tools/list", slug=application.slug))

    assert [tool["name"] for tool in listed["tools"]] == [application.slug]
    assert (await request(site(), "tools/list", slug="nobody")).status == 401


async def test_starters_are_prompts():
    manifest = manifest_with(
        conversation_starters={"starters": [{"title": "Say it", "text": "Say hello"}]}
    )
    application = await add_application(manifest=manifest)
    name = f"{application.slug}.Say_it"

    listed = result_of(await request(site(), "prompts/list"))
    prompt = result_of(await request(site(), "prompts/get", {"name": name}))

    assert name in [one["name"] for one in listed["prompts"]]
    (message,) = prompt["messages"]
    assert message == {"role": "user", "content": {"type": "text", "text": "Say hello"}}


async def test_files_of_the_key_are_resources_and_those_of_others_are_unknown():
    (key, bucket), (other, _) = await make_key(), await make_key()
    stored = await sync_to_async(files.keep)(bucket, "a b.txt", b"Hello", "text/plain")
    uri, routes = f"quickapps://{stored.path}", site(open_workspace)

    listed = result_of(await request(routes, "resources/list", key=key))
    read = result_of(await request(routes, "resources/read", {"uri": uri}, key=key))
    refused = await request(routes, "resources/read", {"uri": uri}, key=other)

    assert [one["uri"] for one in listed["resources"]] == [uri]
    assert read["contents"] == [{"uri": uri, "mimeType": "text/plain", "text": "Hello"}]
    assert error_of(refused)[1]["message"] == f"Unknown resource: '{uri}'."


@pytest.mark.parametrize(
    "uri", ["file:///etc/passwd", "quickapps://files/a\0/b", "quickapps://files/..", "x"]
)
async def test_other_resources_are_unknown(uri):
    status, error = error_of(await request(site(open_workspace), "resources/read", {"uri": uri}))

    assert (status, error["code"]) == (400, -32602)


@each_row("revision", [MODERN, HANDSHAKE])
@each_row(
    ("error", "text", "about"),
    [
        (LOST, STORAGE.text, {"code": STORAGE.code, "retry_after_seconds": 1}),
        (
            OperationalError("10.0.0.3"),
            DATABASE.text,
            {"code": DATABASE.code, "retry_after_seconds": 1},
        ),
        (KeyError("s3cret"), GENERIC, {"code": "500"}),
    ],
)
async def test_a_failed_request_is_told_with_a_reference_and_without_details(
    error, text, about, revision, monkeypatch, caplog
):
    def fail(*given: Any) -> Any:
        raise error

    monkeypatch.setattr(tools, "usable", fail)
    key, _ = await make_key()
    template = {"type": "ref/resource", "uri": TEMPLATE}
    for method, params in (
        ("tools/list", {}),
        ("prompts/list", {}),
        ("resources/list", {}),
        ("resources/read", {"uri": "quickapps://files/b/a.txt"}),
        ("completion/complete", {"ref": template, "argument": {"name": "name", "value": ""}}),
    ):
        error.__dict__.clear()
        answer = await request(site(fail), method, params, key=key, revision=revision)

        _, found = error_of(answer)
        reference = error.__dict__["reference"]
        assert found == {
            "code": -32603,
            "message": f"{text} (error reference: {reference})",
            "data": about,
        }
        if revision == MODERN:  # The older one answers with a stream, which has already begun.
            assert ("retry-after" in answer.headers) == ("retry_after_seconds" in about)
        assert f"reference={reference}" in caplog.text


async def test_a_caller_without_a_valid_key_learns_where_the_metadata_is():
    answer = await request(site(), "tools/list", key="wrong")

    assert answer.status == 401
    assert answer.headers["www-authenticate"].startswith("Bearer resource_metadata=")


async def test_foreign_hosts_and_origins_are_refused():
    for headers in ({"host": "evil.test"}, {"origin": "https://evil.test"}):
        assert (await request(site(), "tools/list", headers=headers)).status == 403


async def test_a_stream_without_a_request_is_refused():
    client = Client(site(), "/mcp")
    await client.send()

    answer = await client.read()

    assert (answer.status, answer.headers["allow"]) == (405, "POST")
