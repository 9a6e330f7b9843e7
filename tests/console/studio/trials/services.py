"""Services for trials of tools, and toolsets that call them."""

from __future__ import annotations

import queue
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.capabilities.manifests import parameter, tool, tool_set

ITEM = parameter("query", "item", description="What to look up.")
COUNT = parameter("query", "count", "integer", description="How many.", default=2)
CONSTANT = {"type": None, "const": "v1", "parameter_info": {"type": "query", "key": "version"}}


@contextmanager
def service(status: int = 200, body: bytes = b"<b>3</b>") -> Iterator[tuple[str, list[str]]]:
    """Serve in a thread. Yields the requested paths."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(status)
            self.send_header("Content-Type", "text/plain")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, *arguments: Any) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/items", asked
        finally:
            server.shutdown()
            thread.join()


def shop(url: str = "http://127.0.0.1:9/", **rest: Any) -> dict[str, Any]:
    properties = {"item": ITEM, "count": COUNT, "version": CONSTANT}
    return tool_set(tool(url, properties=properties, required=("item",), **rest))


@contextmanager
def slow_service() -> Iterator[tuple[str, queue.Queue[str]]]:
    """Serve without ever answering. The queue gets "GET" when a request arrives, and "gone" when
    the caller disconnects."""
    told: queue.Queue[str] = queue.Queue()

    def listen() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection:
                    told.put(connection.recv(65536).split(b" ")[0].decode())
                    while connection.recv(65536):
                        pass
                told.put("gone")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=listen, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/items", told
        listener.shutdown(socket.SHUT_RDWR)
