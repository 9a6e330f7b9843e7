"""An operator chooses a file in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import watch

pytestmark = pytest.mark.usefixtures("demo_model")

ADD = "/admin/workspace/sharedfile/add/"
GUIDE = {"name": "guide.md", "mimeType": "text/markdown", "buffer": b"# Customs"}


def test_a_chosen_file_causes_no_error_and_leaves_the_name_empty(admin_page: Page):
    problems = watch(admin_page)
    admin_page.goto(ADD)

    admin_page.locator("input[type=file]").set_input_files(files=[GUIDE])  # type: ignore[list-item]

    expect(admin_page.get_by_label("Name")).to_have_value("")
    assert problems == []
