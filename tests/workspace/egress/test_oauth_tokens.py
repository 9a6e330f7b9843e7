"""The cache of OAuth tokens for client credentials."""

from __future__ import annotations

import pytest

from apps.manifest.toolsets.authorizations import ClientIdSecretAuthorization
from apps.workspace.egress import oauth_tokens
from apps.workspace.egress.oauth_tokens import find_tokens


def credentials(client: str) -> ClientIdSecretAuthorization:
    return ClientIdSecretAuthorization(
        type="client_id_secret",
        client_id=client,
        client_secret="s",
        token_url="https://id.example/token",
    )


async def test_the_least_recently_used_credentials_are_evicted(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(oauth_tokens, "MOST_CREDENTIALS", 2)
    one, two = (find_tokens(credentials(name)) for name in ("one", "two"))
    assert find_tokens(credentials("one")) is one

    find_tokens(credentials("three"))

    assert find_tokens(credentials("one")) is one
    assert find_tokens(credentials("two")) is not two
