"""Small HTTP servers, each in a thread of the test."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

STOP_SECONDS = 0.02
"""The interval at which a server checks whether it should stop."""


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Serve requests with `handler`, without logging, within the block. Yields the address."""
    quiet = type("Quiet", (handler,), {"log_message": lambda *arguments: None})
    with ThreadingHTTPServer(("127.0.0.1", 0), quiet) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(STOP_SECONDS,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
