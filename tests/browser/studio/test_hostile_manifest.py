"""A manifest is shown as text everywhere, and none of it becomes part of the page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import barriers
from tests.browser.studio.test_manifest_editor import put, wait_for_check
from tests.sites.serving import Site

MARKUP = "<img src=/was-loaded onerror=alert(1)><u-mark>&lt;b&gt; a < b"
"""If this were read as HTML, it would become two elements, load something and lose characters."""


def hostile(key: str) -> str:
    return f"{key} {MARKUP}"


def tool(name: str) -> dict[str, Any]:
    return {
        "open_ai_tool": {
            "type": "function",
            "function": {
                "name": name,
                "description": hostile("tool"),
                "parameters": {
                    "type": "object",
                    "properties": {
                        hostile("parameter"): {
                            "type": "string",
                            "title": hostile("title"),
                            "description": hostile("parameter"),
                            "enum": [hostile("choice")],
                            "default": hostile("choice"),
                        }
                    },
                    "required": [hostile("parameter")],
                },
            },
        },
        "rest_api_method_info": {"method_url": hostile("url"), "method_type": hostile("method")},
    }


MANIFEST: dict[str, Any] = {
    "orchestrator": {
        "deployment": {"deployment_id": hostile("deployment")},
        "system_prompt": {
            "type": "custom",
            "content": hostile("prompt"),
            "variables": {hostile("variable"): hostile("value")},
        },
    },
    "contexts": [
        {"type": "user-defined", "content": hostile("context"), hostile("key"): hostile("value")},
        {"type": hostile("kind"), "url": hostile("url")},
        {"type": "file", "url": hostile("file")},
    ],
    "tool_sets": [
        {
            "type": "rest-api",
            "name": hostile("toolset"),
            "description": {hostile("language"): hostile("text")},
            "tools": [tool(hostile("name"))],
            "authorization": {"type": hostile("authorization")},
            "headers": {hostile("header"): hostile("value")},
        },
        {
            "type": "mcp",
            "name": hostile("server"),
            "mcp_server_info": {
                "url": hostile("url"),
                "protocol": hostile("protocol"),
                "headers": {hostile("header"): hostile("value")},
            },
            "allowed_tools": [hostile("allowed")],
            "authorization": {"type": "api_key", "header": hostile("header"), "key": "x"},
        },
    ],
    "conversation_starters": {
        "intro_text": hostile("intro"),
        "starters": [{"title": hostile("title"), "text": hostile("text")}],
    },
    hostile("root"): {hostile("key"): hostile("value")},
    "features": {hostile("feature"): hostile("value")},
}

DOUBLES = """() => {
  const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
  return [...new Set(ids.filter((id, index) => ids.indexOf(id) !== index))];
}"""
FROM_TEXT = "img[src*=was-loaded], u-mark, bucket"
LEADING_NOWHERE = """() => {
  const form = document.querySelector("[data-form]");
  const described = [...form.querySelectorAll("[aria-describedby]")].flatMap((field) =>
    field.getAttribute("aria-describedby").split(" "));
  const labelled = [...form.querySelectorAll("label[for]")].map(({ htmlFor }) => htmlFor);
  return [...described, ...labelled].filter((id) => !document.getElementById(id));
}"""


@pytest.fixture(autouse=True)
def nothing_is_loaded(admin_page: Page) -> Iterator[None]:
    asked: list[str] = []
    admin_page.on("request", lambda request: asked.append(request.url))
    yield
    assert [url for url in asked if "was-loaded" in url] == []


def open_form(page: Page, address: str, status: str) -> None:
    page.goto(address)
    wait_for_check(page, status)
    page.get_by_role("tab", name="Form").click()
    expect(page.get_by_role("tab", name="Form")).to_have_attribute("aria-selected", "true")


@pytest.mark.slow("a walk through several pages in a browser")
def test_nothing_of_a_manifest_becomes_an_element_of_the_form(site: Site, admin_page: Page):
    page = admin_page
    open_form(page, put(site, "hostile", MANIFEST), "error")
    form = page.locator("[data-form]")

    for words in ("prompt", "toolset", "context", "intro", "name"):
        shown = form.locator("input, textarea").evaluate_all(
            "(fields, text) => fields.filter(({ value }) => value === text).length", hostile(words)
        )
        assert (words, shown) == (words, 1)
    more = page.get_by_role("button", name="More fields: orchestrator.system_prompt")
    more.first.click()
    page.keyboard.press("Escape")
    expect(page.locator(".property-selector:visible")).to_have_count(0)
    assert page.locator(FROM_TEXT).count() == 0
    assert barriers(page) == []
    assert page.evaluate(DOUBLES) == []
    assert page.evaluate(LEADING_NOWHERE) == []
    is_as_it_was = "field => field.value === field.defaultValue"
    assert page.locator("textarea[name=manifest]").evaluate(is_as_it_was)

    page.get_by_role("tab", name="Text").click()
    expect(page.get_by_role("tab", name="Text")).to_have_attribute("aria-selected", "true")
    assert page.locator(FROM_TEXT).count() == 0


def test_markup_that_is_typed_is_kept_as_it_is_typed(site: Site, admin_page: Page):
    page = admin_page
    plain = {"orchestrator": {"deployment": {"deployment_id": "demo-model"}}, "contexts": []}
    prompt = {"type": "custom", "content": "Use <file> tags.", "variables": {}}
    plain["orchestrator"]["system_prompt"] = prompt  # type: ignore[index]
    open_form(page, put(site, "markup", plain), "")
    field = page.locator("[data-form] textarea").filter(visible=True).first

    expect(field).to_have_value("Use <file> tags.")
    field.fill(hostile("Use <file> tags, and"))
    field.blur()

    expect(page.locator("textarea[name=manifest]")).to_have_value(
        re.compile(re.escape(json.dumps(hostile("Use <file> tags, and"))))
    )


def test_help_texts_are_shown_as_they_are_written(site: Site, admin_page: Page):
    page = admin_page
    contexts = [{"type": "file", "url": "files/a/b.txt"}, {"type": "file", "url": "files/a/c.txt"}]
    manifest = {
        "orchestrator": {"deployment": {"deployment_id": "demo-model"}},
        "contexts": contexts,
    }
    open_form(page, put(site, "help", manifest), "")

    help_texts = page.locator("[data-form]").get_by_text("files/<bucket>/<path>")
    expect(help_texts).to_have_count(2)
    assert page.locator(FROM_TEXT).count() == 0
    assert page.evaluate(DOUBLES) == []
    assert page.evaluate(LEADING_NOWHERE) == []


def test_a_field_with_a_mistake_keeps_its_help(site: Site, admin_page: Page):
    page = admin_page
    model = {"deployment": {"deployment_id": "demo-model"}}
    manifest = {"orchestrator": {**model, "max_iterations": "many"}, "contexts": []}
    open_form(page, put(site, "mistake", manifest), "2 errors")

    field = page.locator("[data-form] [aria-invalid=true]")

    expect(field).to_have_accessible_description(re.compile(r"^\S.* expected an integer"))


@pytest.mark.slow("uses several pages in a browser")
def test_nothing_of_a_manifest_becomes_an_element_of_the_studio(site: Site, admin_page: Page):
    page = admin_page
    put(site, "hostile-studio", MANIFEST)
    number = site.shell("result = Application.objects.get(slug='hostile-studio').pk")
    page.goto(f"/admin/catalog/application/{number}/studio/#instructions")
    sections = page.get_by_role("navigation", name="Sections of the application").get_by_role(
        "link"
    )
    expect(sections.first).to_be_visible()

    for section in sections.all():
        section.click()
        expect(section).to_have_attribute("aria-current", "true")
        page.wait_for_load_state("networkidle")
        assert (section.inner_text(), page.locator(FROM_TEXT).count()) == (section.inner_text(), 0)
