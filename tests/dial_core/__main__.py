"""`python -m tests.dial_core --port 8080 --config tests/dial_core/example.json`."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from pathlib import Path

from tests.dial_core.serving import serve_core

EXAMPLE = Path(__file__).with_name("example.json")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.dial_core", description=__doc__)
    parser.add_argument("--port", type=int, default=8080, help="0 for a free one")
    parser.add_argument("--config", type=Path, default=EXAMPLE, help="in Core's own JSON")
    options = parser.parse_args()
    stop = {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, stop)
    with serve_core(json.loads(options.config.read_text()), port=options.port) as core:
        sys.stdout.write(f"DIAL Core for development: {core.url}\n")
        sys.stdout.flush()
        signal.sigwait(stop)


if __name__ == "__main__":
    main()
