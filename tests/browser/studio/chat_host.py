"""A page of another origin that frames the editor, as DIAL's chat does.

It stores the frame's messages in `heard`, and sends messages with `ask(message)`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import parse_qs, urlsplit

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from tests.dial_core.serving import served

PAGE = """<!doctype html>
<html lang="en">
  <head><title>Chat</title></head>
  <body style="margin: 0">
    <main><h1 style="margin: 0">Chat</h1></main>
    <script>
      const frame = document.createElement("iframe");
      window.heard = [];
      window.addEventListener("message", ({ data, source }) => {
        if (source === frame.contentWindow) window.heard.push(data);
      });
      window.ask = (message) => frame.contentWindow.postMessage(message, "*");
      frame.title = "Editor";
      frame.style = "width: 100vw; height: 90vh; border: 0";
      frame.src = ADDRESS;
      document.querySelector("main").append(frame);
    </script>
  </body>
</html>"""


async def page(request: Request) -> HTMLResponse:
    """Serve a page that frames the address in the query."""
    address = parse_qs(urlsplit(str(request.url)).query)["frame"][0]
    return HTMLResponse(PAGE.replace("ADDRESS", json.dumps(address)))


@contextmanager
def serve_host() -> Iterator[str]:
    """Serve the host within the block. Yields its origin."""
    with served(Starlette(routes=[Route("/", page)])) as url:
        yield url
