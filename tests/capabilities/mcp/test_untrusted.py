"""Servers whose results and resources may contain content of others."""

from typing import Any

import mcp_types as types
import pytest

from apps.capabilities.mcp.capability import mcp
from apps.capabilities.mcp.tools import is_declared_open
from apps.workspace.local.files.caller_files import LocalFiles
from tests.capabilities.manifests import use
from tests.capabilities.mcp.core import CoreWorkspace, core_before
from tests.capabilities.mcp.servers import nothing_left_over, over_http
from tests.capabilities.mcp.test_dial_toolsets import DESK, kept
from tests.capabilities.test_untrusted import opened

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("marked", "tool_name", "expected"),
    [
        (None, "desk_add", []),
        (True, "desk_add", ["results of desk_add"]),
        (True, "read_mcp_resource", ["resources of desk"]),
        (None, "read_mcp_resource", []),
    ],
)
async def test_a_server_is_trusted_unless_it_is_marked(http_url, marked, tool_name, expected):
    server = over_http(http_url, resources={"enabled": True}, is_untrusted=marked)
    arguments: dict[str, Any] = {
        "desk_add": {"a": 1, "b": 2},
        "read_mcp_resource": {"uri": "bits://rules"},
    }

    async with nothing_left_over(), opened(mcp, server) as (opening, contribution):
        [found] = [one for one in contribution.tools if one.spec.name == tool_name]
        result = await use(found, **arguments[tool_name])

    assert result.failure is None
    assert opening.taint.sources == expected


async def test_a_resource_that_is_read_ahead_counts_as_read(http_url):
    resources = {"enabled": True, "items": [{"uri": "bits://rules", "eager": True}]}
    server = over_http(http_url, resources=resources, is_untrusted=True)

    async with nothing_left_over(), opened(mcp, server) as (opening, _):
        assert opening.taint.sources == ["resources of desk"]


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (None, False),
        (types.ToolAnnotations(), False),
        (types.ToolAnnotations(open_world_hint=False), False),
        (types.ToolAnnotations(open_world_hint=True), True),
    ],
)
def test_a_server_may_say_itself_that_a_tool_brings_what_others_wrote(told, expected):
    assert is_declared_open(told) == expected


class OthersFiles(LocalFiles):
    async def is_own(self, path: str) -> bool:
        return path.startswith("files/own/")


class SharedWorkspace(CoreWorkspace):
    files = OthersFiles("user-7")


async def test_a_server_that_is_given_a_file_of_somebody_else_tells_what_they_wrote(http_url):
    async with nothing_left_over(), core_before(http_url, DESK) as core:
        desk = kept(name="desk", allowed_tools=["peruse"])
        async with opened(mcp, desk, on=SharedWorkspace(core)) as (opening, contribution):
            [peruse] = contribution.tools
            await use(peruse, file="files/own/a.txt", others=["files/b/report.txt"])

    assert opening.taint.sources == ["file 'report.txt' of another user"]
