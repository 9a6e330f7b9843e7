"""References of a manifest to other objects."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.base import ContentFile

from apps.catalog.review.reachability import reachability_warnings
from apps.workspace.local.files import files
from apps.workspace.local.models import McpServer
from tests.catalog.rows import manifest_with

pytestmark = pytest.mark.django_db


def mcp(**info: Any) -> dict[str, Any]:
    return {"type": "mcp", "name": "desk", "mcp_server_info": info}


def said(**changes: Any) -> list[str]:
    return sorted(map(str, reachability_warnings(manifest_with(**changes))))


def test_a_server_that_nobody_registered_is_told_with_one_of_a_similar_name():
    McpServer.objects.create(name="desk-tools", command="/bin/true")
    McpServer.objects.create(name="old-tools", command="/bin/true", is_enabled=False)
    servers = ("desk-tools", "desk-tool", "old-tools")
    assert said(tool_sets=[mcp(protocol="stdio", server=name) for name in servers]) == [
        "tool_sets[1].mcp_server_info.server: there is no MCP server named 'desk-tool', or it is not "
        "enabled; did you mean 'desk-tools'?",
        "tool_sets[2].mcp_server_info.server: there is no MCP server named 'old-tools', or it is not "
        "enabled; did you mean 'desk-tools'?",
    ]


def test_shared_files_and_folders_that_are_not_there_are_told():
    files.share("guides/travel.pdf", ContentFile(b"x"), "application/pdf")
    contexts = [
        {"type": "file", "url": "files/public/guides/travel.pdf"},
        {"type": "file", "url": "files/public/guides/travels.pdf"},
        {"type": "folder", "url": "files/public/guides/"},
        {"type": "folder", "url": "files/public/others/"},
        {"type": "file", "url": "files/user-7/own.pdf"},
        {"type": "file", "url": "https://example.com/a.pdf"},
        {"type": "user-defined", "content": "files/public/nothing"},
    ]
    assert said(contexts=contexts) == [
        "contexts[1].url: there is no shared file 'guides/travels.pdf'; did you mean "
        "'files/public/guides/travel.pdf'?",
        "contexts[3].url: there is no shared file in the folder 'others/'.",
    ]


def test_addresses_are_refused_in_the_words_of_a_call_without_asking_anybody(settings):
    settings.PRIVATE_NETWORK_ALLOWLIST = ["10.0.0.9"]
    urls = (
        "http://10.0.0.8/mcp",
        "http://10.0.0.9/mcp",
        "http://169.254.169.254/latest",
        "https://me:word@example.com/mcp",
        "https://example.com/mcp?API_KEY=1&page=2",
        "/mcp",
        "http://[broken",
    )
    toolsets = [mcp(protocol="streamable_http", url=url) for url in urls]
    place = "tool_sets[{}].mcp_server_info.url: "
    assert said(tool_sets=toolsets) == [
        place.format(0)
        + "The host '10.0.0.8' is on a private network. If the server may contact it, add 10.0.0.8 "
        "to the setting PRIVATE_NETWORK_ALLOWLIST.",
        place.format(2)
        + (
            "The host '169.254.169.254' has a link-local, reserved or NAT64 address. "
            "Requests to it are blocked. Use a host with a different address."
        ),
        place.format(3) + "use `authorization` for the username and password, not the URL.",
        place.format(4) + "many servers log the query of a URL; store the credential "
        "'API_KEY' as a secret in `authorization`.",
    ]


def test_what_is_no_manifest_has_no_warnings():
    assert [*reachability_warnings({"contexts": "no list", "tool_sets": 3})] == []


def test_an_address_without_a_scheme_is_told_with_the_one_that_is_meant():
    urls = (
        "shop.example.com",
        "shop.example.com:8080/v1",
        "/v1",
        "{host}",
        "https://a.example.com",
    )
    toolsets = [{"type": "rest-api", "name": "shop", "base_url": url} for url in urls]

    assert said(tool_sets=toolsets) == [
        f"tool_sets[{number}].base_url: is not a URL; did you mean 'https://{url}'?"
        for number, url in enumerate(urls[:2])
    ]


def test_skills_of_dial_are_told_that_no_core_has(settings):
    skills = [
        {"type": "dial-prompt", "url": "tone"},
        {"type": "dial-skill", "url": "prompts/public/tone"},
        {"type": "dial-prompt", "url": "prompts/public/tone"},
    ]
    misplaced = [
        "skills[0].url: there is no skill at this path; write prompts/<bucket>/<path>.",
        "skills[1].url: there is no skill at this path; write skills/<bucket>/<path>.",
    ]

    settings.DIAL_URL = "https://core.example.com"
    assert said(skills=skills) == misplaced
    settings.DIAL_URL = ""
    assert said(skills=skills) == [
        *misplaced,
        "skills[2].url: skills of DIAL are read from a DIAL Core, and this installation has none; "
        "write the skill into the application instead.",
    ]
