"""A REST service with an OpenAPI document, on a loopback port."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "Parcels", "description": "Where parcels are."},
    "servers": [{"url": "/"}],
    "paths": {
        "/parcels/{number}": {
            "get": {
                "operationId": "find_parcel",
                "summary": "Find a parcel by its number",
                "parameters": [
                    {
                        "name": "number",
                        "in": "path",
                        "required": True,
                        "description": "The number of the parcel.",
                        "schema": {"type": "integer"},
                    }
                ],
            }
        },
        "/parcels": {"post": {"operationId": "send_parcel", "summary": "Send a parcel"}},
    },
}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        is_document = self.path == "/openapi.json"
        found = DOCUMENT if is_document else {"state": "on its way", "asked": self.path}
        body = json.dumps(found).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None: ...


@contextmanager
def parcel_service() -> Iterator[str]:
    """Serve it. Yields the address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
