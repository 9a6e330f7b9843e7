"""Redis is away: what needs it not goes on."""

from __future__ import annotations

import socket
from pathlib import Path

from tests.browser.serving import serve
from tests.websocket import PageSocket, visitor_cookie


def test_a_socket_is_accepted_and_answered_while_redis_is_away(tmp_path: Path) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # nobody listens there, and nobody else will
        port = closed.getsockname()[1]
        with serve(tmp_path, REDIS_URL=f"redis://127.0.0.1:{port}/0") as site:
            site.manage("import_content")
            page = PageSocket(site.url, "demo", visitor_cookie(site.url, "demo"))

            page.ask("Hello")
            frames = page.until("message.complete")
            page.close()

    assert "".join(one.get("text", "") for one in frames if one["type"] == "message.delta")
