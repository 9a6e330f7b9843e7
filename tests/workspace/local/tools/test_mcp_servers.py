"""MCP servers that an administrator registered."""

from __future__ import annotations

from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.core.exceptions import ValidationError
from django.db import connection

from apps.errors import Unsupported
from apps.workspace.local.models import McpServer
from apps.workspace.local.tools import mcp_servers
from tests.tables import each_row


def server(**fields: Any) -> McpServer:
    return McpServer(**{"name": "time", "command": "/bin/time", **fields})


@each_row(
    ("field", "value"),
    [
        ("name", "a b"),
        ("name", ""),
        ("command", " "),
        ("command", "a\nb"),
        ("arguments", {"a": 1}),
        ("arguments", ["a", 1]),
        ("arguments", ["a\0b"]),
        ("working_directory", "relative"),
        ("environment", "A=1"),
        ("environment", '["A"]'),
        ("environment", '{"A": 1}'),
        ("environment", '{"A B": "s3cret"}'),
        ("environment", "[" * 100_000),
    ],
)
@pytest.mark.django_db
def test_what_cannot_be_started_is_refused_by_its_field(field: str, value: object):
    with pytest.raises(ValidationError) as refused:
        server(**{field: value}).full_clean()

    assert list(refused.value.message_dict) == [field]
    assert "s3cret" not in str(refused.value)


@pytest.mark.django_db
def test_the_environment_is_encrypted():
    row = server(environment='{"TOKEN": "s3cret"}')
    row.full_clean()
    row.save()

    with connection.cursor() as cursor:
        cursor.execute("SELECT environment FROM workspace_mcpserver")
        (stored,) = cursor.fetchone()
    assert "s3cret" not in stored
    assert McpServer.objects.get().parsed_environment() == {"TOKEN": "s3cret"}


@pytest.mark.django_db
async def test_a_server_is_found_by_its_name_and_an_edit_makes_another_of_it(monkeypatch):
    monkeypatch.setattr("apps.process_state.MAX_AGE_SECONDS", 0.0)
    row = server(arguments=["-v"], environment='{"B": "2", "A": "1"}', working_directory="/tmp")
    await database_sync_to_async(row.save)()

    first = await mcp_servers.find("time")
    await database_sync_to_async(row.save)()
    second = await mcp_servers.find("time")

    assert first.arguments == ("-v",)
    assert first.environment == (("A", "1"), ("B", "2"))
    assert "environment" not in repr(first)
    assert (first.version, second.version) == (1, 2)
    assert first != second


@pytest.mark.django_db
async def test_a_disabled_or_unknown_server_is_not_found():
    await database_sync_to_async(server(is_enabled=False).save)()

    for name in ("time", "other", "a\0b", ""):
        with pytest.raises(Unsupported, match="is not registered or not enabled"):
            await mcp_servers.find(name)
