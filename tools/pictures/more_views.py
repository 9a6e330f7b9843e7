"""Pictures beyond the quick start: dark theme, phone, approval and usage."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Browser, Page, expect

from tools.pictures.quick_start import Album, ask_the_demo

PHONE = {"width": 390, "height": 844}
TRIP = "book_trip"


def take_themes(browser: Browser, url: str, size: Any, album: Album) -> None:
    """Take the conversation of a visitor in the dark theme, and on a phone."""
    looks: dict[str, dict[str, Any]] = {
        "chat-dark": {"viewport": size, "color_scheme": "dark"},
        "chat-phone": {"viewport": PHONE, "is_mobile": True, "has_touch": True},
    }
    for name, look in looks.items():
        context = browser.new_context(base_url=url, reduced_motion="reduce", **look)
        page = context.new_page()
        ask_the_demo(page)
        album.take(page, name)
        context.close()


def take_approval(page: Page, album: Album) -> None:
    """Take a tool call waiting for the user's approval."""
    add_application(page, "trips", "Trips", trips())
    page.goto("/chat/trips/")
    page.get_by_label("Your question").fill("Book a trip to Lisbon.")
    page.get_by_label("Your question").press("Enter")
    expect(page.get_by_role("button", name="Approve", exact=True)).to_be_visible()
    album.take(page, "approval")


def take_usage(page: Page, album: Album) -> None:
    page.goto("/admin/insights/usagesum/?by=application&days=7")
    expect(page.get_by_role("table").first).to_be_visible()
    album.take(page, "usage")


def add_application(page: Page, slug: str, title: str, manifest: Any) -> None:
    tokens = [one["value"] for one in page.context.cookies() if one["name"] == "csrftoken"]
    response = page.request.post(
        "/api/applications/",
        data={"slug": slug, "title": title, "manifest": manifest, "is_public": True},
        headers={"X-CSRFToken": tokens[0]},
    )
    if not response.ok:
        raise RuntimeError(response.text())


def trips() -> dict[str, Any]:
    city = {
        "type": "string",
        "description": "The English name of one city, such as Oslo.",
        "parameter_info": {"type": "query", "key": "city"},
        "display": {"stage": {"show_value_in_stage_title": True}},
    }
    function = {
        "name": TRIP,
        "description": "Book a trip to a city.",
        "parameters": {"type": "object", "properties": {"city": city}, "required": ["city"]},
    }
    tool = {
        "type": "restapi-tool",
        "open_ai_tool": {"type": "function", "function": function},
        "rest_api_method_info": {"method_url": "/demo/weather", "method_type": "get"},
        "approval": {"mode": "confirm"},
        "display": {"stage": {"name": "Trip to"}},
    }
    tools = {"type": "rest-api", "name": "Trips", "description": "Trips.", "tools": [tool]}
    orchestrator = {"deployment": {"deployment_id": "demo-model"}}
    return {"orchestrator": orchestrator, "contexts": [], "tool_sets": [tools]}
