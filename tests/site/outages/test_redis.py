"""While Redis is down, everything that does not need it continues."""

from __future__ import annotations

from tests.contract import proves
from tests.sites.serving import Site
from tests.sites.websocket import PageSocket, visitor_cookie


@proves("T-13")
def test_a_socket_is_accepted_and_answered_while_redis_is_away(site: Site) -> None:
    page = PageSocket(site.url, "demo", visitor_cookie(site.url, "demo"))

    page.ask("Hello")
    frames = page.until("message.complete")
    page.close()

    assert "".join(one.get("text", "") for one in frames if one["type"] == "message.delta")
