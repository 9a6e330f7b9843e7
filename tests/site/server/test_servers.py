"""The site on its own server, and on the two other supported servers."""

from __future__ import annotations

import signal
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.sites.serving import serve_process
from tests.sites.websocket import PATIENCE, PageSocket, visitor_cookie

APPLICATION = "quickapps_site.asgi:application"
SERVERS = {
    "ours": ("quickapps_site.serve", (), 0),
    "uvicorn": ("uvicorn", (APPLICATION, "--host", "127.0.0.1", "--port", "{port}"), -15),
    "daphne": ("daphne", ("-p", "{port}", APPLICATION), 0),
}
"""The module, its arguments, and the exit status after SIGTERM."""


@pytest.mark.slow("starts a site in a process of its own")
@pytest.mark.parametrize(
    "server",
    ["ours", *(pytest.param(name, marks=pytest.mark.full) for name in ("uvicorn", "daphne"))],
)
def test_a_server_serves_the_page_and_its_socket_and_stops_when_told(
    tmp_path: Path, server: str
) -> None:
    module, arguments, goodbye = SERVERS[server]
    with serve_process(tmp_path, module, arguments) as (site, process):
        site.manage("import_content")
        with urlopen(f"{site.url}/healthz", timeout=PATIENCE) as healthy:
            assert healthy.status == 200
        cookie = visitor_cookie(site.url, "demo")
        for _ in range(3):  # these disconnect during an answer
            leaving = PageSocket(site.url, "demo", cookie)
            leaving.ask("Hello")
            leaving.until("message.delta")
            leaving.close()
        page = PageSocket(site.url, "demo", cookie)
        page.ask("Hello")
        frames = page.until("message.complete")
        process.send_signal(signal.SIGTERM)
        status = process.wait(PATIENCE)
        page.close()
        log = site.log.read_text()

    assert "".join(one.get("text", "") for one in frames if one["type"] == "message.delta")
    assert status == goodbye
    assert "Traceback" not in log, log
