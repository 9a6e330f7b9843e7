"""The conformance suite of MCP judges the authorization server, and signs a user in."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.judges.mcp_conformance.test_mcp_conformance import PROGRAMS, pytestmark
from tests.sites.serving import Site, free_port, serve

__all__ = ["pytestmark"]

SIGN_IN = """
from django.contrib.auth.models import User
from django.test import Client as Browser
browser = Browser()
browser.force_login(User.objects.create_user("ada"))
result = browser.session.session_key
"""
SIGNED = re.compile(r'name="(csrfmiddlewaretoken|request|scopes)" value="([^"]+)"')


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with serve(tmp_path_factory.mktemp("authorization"), MCP_OAUTH="true") as served:
        yield served


def register(site: Site, back: str) -> str:
    told = {
        "client_name": "Judge",
        "redirect_uris": [back],
        "token_endpoint_auth_method": "none",
    }
    answer = httpx.post(f"{site.url}/oauth/register", json=told)
    return str(answer.raise_for_status().json()["client_id"])


def connect(site: Site, url: str) -> str:
    """Connect the program as a user. Return the URL to which the user returns."""
    cookies = {"sessionid": site.shell(SIGN_IN)}
    with httpx.Client(base_url=site.url, cookies=cookies) as browser:
        page = browser.get(url).raise_for_status()
        sent = {**dict(SIGNED.findall(page.text)), "action": "grant"}
        answer = browser.post("/oauth/authorize", data=sent)
        return answer.headers["location"]


def test_the_metadata_and_the_code_grant_pass(site: Site, tmp_path: Path):
    port = free_port()
    client_id = register(site, f"http://127.0.0.1:{port}/callback")
    command: list[str | Path] = [
        *(PROGRAMS / "node", PROGRAMS / "conformance", "authorization", "--url", site.url),
        *("--client-id", client_id, "--resource", f"{site.url}/mcp"),
        *("--port", str(port), "--spec-version", "2026-07-28", "-o", tmp_path),
    ]
    written: list[str] = []

    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as judge:
        assert judge.stdout is not None
        for line in judge.stdout:
            written.append(line)
            if line.startswith(f"{site.url}/oauth/authorize?"):
                httpx.get(connect(site, line.strip()))
        status = judge.wait(60)

    assert status == 0, "".join(written)
    assert "0 failed" in "".join(written), "".join(written)
