from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.capabilities.manifests import parameter, tool, tool_set
from tests.peers.upstream import Handler
from tests.sites.gateway import MANIFEST, serve_gateway

SLUG = "judged"
PREPARE = """
from apps.accounts.models import ApiKey
from apps.catalog.models import Application
Application.objects.create(slug=slug, title="Judged", manifest=manifest)
result = ApiKey.objects.create_key(name="judge")[1]
"""


@dataclass(frozen=True, slots=True)
class JudgedDoor:
    url: str
    key: str


class ShopHandler(Handler):
    """A model that repeats what it is told, and a shop whose tool needs an approval."""

    def do_POST(self) -> None:  # noqa: N802 - a name of http.server
        if not self.path.endswith("/pay"):
            super().do_POST()
            return
        self.rfile.read(int(self.headers["content-length"]))
        body = json.dumps({"paid": True}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def selling(url: str) -> dict[str, Any]:
    amount = {"amount": parameter("body", "amount", "integer")}
    pay = tool(f"{url}/pay", "post", amount, approval={"mode": "confirm"})
    pay["open_ai_tool"]["function"]["name"] = "pay"
    features = {"questions": {}, "timestamp": {"mode": "tool"}}
    return {**MANIFEST, "tool_sets": [tool_set(pay)], "features": features}


@pytest.fixture(scope="session")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JudgedDoor]:
    with serve_gateway(tmp_path_factory.mktemp("ag-ui"), ShopHandler) as gateway:
        key = gateway.site.shell(PREPARE, slug=SLUG, manifest=selling(gateway.upstream.url))
        yield JudgedDoor(f"{gateway.url}/ag-ui/{SLUG}", key)
