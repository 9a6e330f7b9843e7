"""A minimal Vault: AppRole login, and reads of the KV engine, version 2."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.servers.http import serving

ROLE, SECRET_ID = "shop-role", "s3cret-id"


@dataclass(slots=True)
class VaultServer:
    """Answers like the documented API. `documents` are stored by path, with all their versions."""

    url: str = ""
    tokens: set[str] = field(default_factory=lambda: {"root"})
    documents: dict[str, list[Mapping[str, Any] | None]] = field(default_factory=dict)
    is_sealed: bool = False
    lease: int = 1200
    reads: int = 0
    logins: int = 0

    def answer(self, method: str, path: str, token: str, body: Any) -> tuple[int, Any]:
        if self.is_sealed:
            return 503, {"errors": ["Vault is sealed"]}
        if (method, path) == ("POST", "auth/approle/login"):
            if body != {"role_id": ROLE, "secret_id": SECRET_ID}:
                return 400, {"errors": ["invalid role or secret ID"]}
            self.logins += 1
            self.tokens.add(f"login-{self.logins}")
            return 200, {
                "request_id": "1",
                "data": None,
                "auth": {
                    "client_token": f"login-{self.logins}",
                    "lease_duration": self.lease,
                    "renewable": True,
                    "token_type": "service",
                },
            }
        if token not in self.tokens:
            return 403, {"errors": ["permission denied"]}
        self.reads += 1
        versions = self.documents.get(path)
        if versions is None:
            return 404, {"errors": []}
        metadata = {"version": len(versions), "destroyed": False, "deletion_time": ""}
        data = {"data": versions[-1], "metadata": metadata}
        whole = {"request_id": "2", "lease_id": "", "lease_duration": 0, "data": data}
        return (404 if versions[-1] is None else 200), whole


@contextmanager
def serve_vault() -> Iterator[VaultServer]:
    vault = VaultServer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            length = int(self.headers.get("content-length", 0))
            body = json.loads(self.rfile.read(length)) if length else None
            token = self.headers.get("X-Vault-Token", "")
            path = self.path.removeprefix("/v1/")
            status, answer = vault.answer(self.command, path, token, body)
            content = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_GET  # noqa: N815  # the base class calls it by that name

    with serving(Handler) as url:
        vault.url = url
        yield vault
