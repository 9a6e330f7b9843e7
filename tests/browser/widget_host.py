"""A site with a strict policy, on a host of its own, that shows a widget."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import parse_qs, urlsplit

from django.utils.html import escape
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from tests.dial_core.serving import served

PAGE = """<!doctype html>
<html lang="en">
  <head><title>Shop</title></head>
  <body>
    <main><h1>Shop</h1><button type="button" id="help">Help</button></main>
    <script src="{site}/widget.js" data-app="{app}" {more} async></script>
  </body>
</html>"""


async def page(request: Request) -> HTMLResponse:
    """Serve a page with the widget that the query names. Its policy allows nothing else."""
    asked = parse_qs(urlsplit(str(request.url)).query)
    site, app = asked["site"][0], asked["app"][0]
    more = " ".join(
        f'data-{name}="{escape(value[0])}"'
        for name, value in asked.items()
        if name not in ("site", "app")
    )
    policy = f"default-src 'none'; style-src 'none'; script-src {site}; frame-src {site}"
    content = PAGE.format(site=escape(site), app=escape(app), more=more)
    return HTMLResponse(content, headers={"Content-Security-Policy": policy})


@contextmanager
def serve_shop() -> Iterator[str]:
    """Serve the page within the block. Yields its origin: `localhost`, another site than 127.0.0.1."""
    with served(Starlette(routes=[Route("/", page)])) as url:
        yield url.replace("127.0.0.1", "localhost")
