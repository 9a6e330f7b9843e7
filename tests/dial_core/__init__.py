"""A fake DIAL Core for development and tests, on the loopback and in memory only.

    with serve_core() as core:                        its own thread, a free port
        core.add_model("m", [[{"text": "Hello"}]])
        core.add_application("app", "http://127.0.0.1:8000/openai/deployments/x/chat/completions")

`python -m tests.dial_core --port 8080 --config tests/dial_core/example.json` serves it as a separate process.
"""

from __future__ import annotations

from tests.dial_core.core import Core, Hop
from tests.dial_core.faults import Faults
from tests.dial_core.serving import serve_core

__all__ = ["Core", "Faults", "Hop", "serve_core"]
