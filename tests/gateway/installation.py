"""The site, the Core that calls it, and the model's service behind it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import openai

from tests.catalog.rows import manifest_with
from tests.dial_core import Core, serve_core
from tests.peers.upstream import Upstream, serve_upstream
from tests.sites.serving import Site, serve

PREPARE = """
from apps.accounts.models import ApiKey
from apps.catalog.models import Application
from apps.workspace.local.models import Deployment
Deployment.objects.create(
    deployment_id="upstream", display_name="Upstream", base_url=url, model_name="m", api_key="k"
)
for slug, manifest in applications.items():
    Application.objects.create(slug=slug, title=slug, manifest=manifest)
row, result = ApiKey.objects.create_key(name="program")
"""
SLUG = "echo"
ECHO = {
    SLUG: manifest_with(
        orchestrator={"deployment": {"deployment_id": "upstream"}}, features={"timestamp": None}
    )
}
"""An application that passes every question to the service."""


@dataclass(frozen=True, slots=True)
class Installation:
    """An installation. `key` is one of its own."""

    site: Site
    core: Core
    upstream: Upstream
    key: str

    def client(self, path: str = "v1", key: str = "", retries: int = 0) -> openai.OpenAI:
        url = f"{self.site.url}/openai/{path}"
        return openai.OpenAI(base_url=url, api_key=key or self.key, max_retries=retries)


@contextmanager
def serve_installation(
    folder: Path, applications: Mapping[str, Any], **settings: str
) -> Iterator[Installation]:
    """Serve an installation whose deployment `upstream` is a real service. Core has its
    applications."""
    with (
        serve_core() as core,
        serve_upstream() as upstream,
        serve(folder, DIAL_URL=core.url, **settings) as site,
    ):
        key = site.shell(PREPARE, url=upstream.url, applications=applications)
        for slug in applications:
            core.add_application(slug, f"{site.url}/openai/deployments/{slug}/chat/completions")
        yield Installation(site, core, upstream, key)
