from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from apps.workspace.embeddings.port import Embedder
from apps.workspace.local.workspace import LocalWorkspace
from tests.workspace.embeddings.hashed import HashedEmbedder
from tests.writes.world import World


@pytest.fixture
def world(
    db: None,
    storage: Path,
    quick_demo: None,
    nothing_predefined: None,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> World:
    """Return the world in an installation with sign-up, mail, a template and an available
    embedder."""
    template = Path("template/document-qa")
    shutil.copytree(settings.BASE_DIR / "predefined" / template, settings.PREDEFINED_DIR / template)
    settings.SIGN_UP, settings.SENDS_MAIL, settings.MCP_OAUTH = "open", True, True
    keycloak = {"provider_id": "keycloak", "name": "Keycloak", "client_id": "a", "secret": "b"}
    settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": [{**keycloak, "settings": {}}]}}

    async def embedder_of(workspace: LocalWorkspace, deployment_id: str | None) -> Embedder:
        return HashedEmbedder()

    monkeypatch.setattr(LocalWorkspace, "embedder", embedder_of)
    return World()
