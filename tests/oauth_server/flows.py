"""The steps with which a program signs a user in."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

from django.contrib.auth.models import User
from django.test import Client

SITE = "http://testserver"
MCP = f"{SITE}/mcp"
BACK = "http://127.0.0.1:4000/callback"
VERIFIER = "a-verifier-of-more-than-forty-three-characters"
CHALLENGE = (
    base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")
)
REQUEST = re.compile(r'name="request" value="([^"]+)"')


def register(**changes: Any) -> Any:
    """Register a program. Return the response."""
    told = {
        "client_name": "Editor",
        "redirect_uris": [BACK],
        "grant_types": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_method": "none",
        **changes,
    }
    return Client().post("/oauth/register", json.dumps(told), content_type="application/json")


def client_id(**changes: Any) -> str:
    return str(register(**changes).json()["client_id"])


def signed_in(user: User) -> Client:
    browser = Client()
    browser.force_login(user)
    return browser


def query(program: str, **changes: Any) -> dict[str, Any]:
    given = {
        "response_type": "code",
        "client_id": program,
        "redirect_uri": BACK,
        "state": "the state",
        "scope": "mcp",
        "resource": MCP,
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
        **changes,
    }
    return {name: value for name, value in given.items() if value is not None}


def decide(browser: Client, program: str, action: str = "grant", **changes: Any) -> dict[str, str]:
    """Open the page and press a button. Return the parameters that the program receives."""
    page = browser.get("/oauth/authorize", query(program, **changes))
    assert page.status_code == 200, page.text
    [signed] = REQUEST.findall(page.text)
    answer = browser.post(
        "/oauth/authorize", {"request": signed, "scopes": "mcp", "action": action}
    )
    assert answer.status_code == 302, answer.text
    return parameters(answer)


def parameters(answer: Any) -> dict[str, str]:
    """Return the parameters of a redirect to the program."""
    assert answer["Location"].startswith(("http://127.0.0.1:", "http://localhost:"))
    return {name: value for name, [value] in parse_qs(urlsplit(answer["Location"]).query).items()}


def exchange(program: str, code: str, **changes: Any) -> Any:
    given = {
        "grant_type": "authorization_code",
        "client_id": program,
        "code": code,
        "redirect_uri": BACK,
        "code_verifier": VERIFIER,
        "resource": MCP,
        **changes,
    }
    sent = {name: value for name, value in given.items() if value is not None}
    return Client().post("/oauth/token", sent)


def tokens(user: User, program: str = "", resource: str = MCP) -> dict[str, Any]:
    """Connect a program. Return its tokens."""
    program = program or client_id()
    code = decide(signed_in(user), program, resource=resource)["code"]
    found: dict[str, Any] = exchange(program, code, resource=resource).json()
    return found
