"""Serve the fake Core.

python -m tests.dial_core --port 8080 --config tests/dial_core/example.json
"""

from __future__ import annotations

import argparse
import json
import signal
import socket
import sys
from pathlib import Path

from tests.dial_core.serving import serve_core

HOST = "127.0.0.1"
SITE_URL = "http://127.0.0.1:8000"
"""The site in configurations; `--site-url` replaces it."""
EXAMPLE = Path(__file__).with_name("example.json")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.dial_core", description=__doc__)
    parser.add_argument("--port", type=int, default=8080, help="0 for a free one")
    parser.add_argument("--config", type=Path, default=EXAMPLE, help="in Core's own JSON")
    parser.add_argument("--site-url", default=SITE_URL, help="the site that Core calls")
    parser.add_argument(
        "--print-port", action="store_true", help="print --port, or a free one if it is taken"
    )
    options = parser.parse_args()
    if options.print_port:
        sys.stdout.write(f"{usable_port(options.port)}\n")
        return
    config = options.config.read_text().replace(SITE_URL, options.site_url.rstrip("/"))
    stop = {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, stop)
    with serve_core(json.loads(config), port=options.port) as core:
        sys.stdout.write(f"DIAL Core for development: {core.url}\n")
        sys.stdout.flush()
        signal.sigwait(stop)


def usable_port(wanted: int) -> int:
    with socket.socket() as tried:
        # Like servers, reuse a port whose connections have just ended.
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((HOST, wanted))
        except OSError:
            tried.bind((HOST, 0))
        port: int = tried.getsockname()[1]
        return port


if __name__ == "__main__":
    main()
