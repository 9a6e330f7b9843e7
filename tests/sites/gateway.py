"""The real site with an application for third-party clients, and the model service behind it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.peers.upstream import Handler, Upstream, serve_upstream
from tests.sites.serving import Site, serve

SLUG = "echo"
CLOCK = "internal_timeawareness_current_timestamp"
"""A tool of the application itself."""
MANIFEST = {
    "orchestrator": {
        "deployment": {"deployment_id": "upstream"},
        "system_prompt": {"type": "custom", "content": "Repeat.", "variables": {}},
    },
    "contexts": [],
    "tool_sets": [],
    "conversation_starters": {"starters": [{"title": "Hello", "text": "Say hello"}]},
}

PREPARE = """
from apps.accounts.models import ApiKey
from apps.catalog.models import Application
from apps.workspace.local.models import Deployment
Deployment.objects.create(
    deployment_id="upstream", display_name="Upstream", base_url=url, model_name="m", api_key="k"
)
application = Application.objects.create(slug=slug, title="Echo", manifest=manifest)
private = Application.objects.create(slug="private", title="Private", manifest=manifest)
row, result = ApiKey.objects.create_key(name="peers", is_limited=True)
row.applications.set([application])
"""


@dataclass(frozen=True, slots=True)
class Gateway:
    """A served site. `key` can only use the application SLUG; the site also has one named
    `private`."""

    site: Site
    key: str
    upstream: Upstream

    @property
    def url(self) -> str:
        return self.site.url


@contextmanager
def serve_gateway(
    folder: Path, answering: type[Handler] = Handler, **settings: str
) -> Iterator[Gateway]:
    with serve_upstream(answering) as upstream, serve(folder, **settings) as site:
        key = site.shell(PREPARE, url=upstream.url, slug=SLUG, manifest=MANIFEST)
        yield Gateway(site, key, upstream)
