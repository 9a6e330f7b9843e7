"""Forms of the admin on phones, their inputs for files, and the menu next to them."""

from __future__ import annotations

from playwright.sync_api import Page, expect

SCHEDULE = "/admin/schedules/schedule/add/"


def test_the_buttons_of_a_form_stay_in_view_on_phones_and_cover_no_focused_field(admin_page: Page):
    page = admin_page
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(SCHEDULE)
    bar = page.locator("#submit-row")

    expect(page.get_by_role("button", name="Save", exact=True)).to_be_in_viewport()
    for _ in range(12):
        page.keyboard.press("Tab")
        focused = page.evaluate("document.activeElement.getBoundingClientRect().bottom")
        assert focused <= page.evaluate("innerHeight")
        covered = page.evaluate("(bar) => bar.getBoundingClientRect().top", bar.element_handle())
        is_inside = page.evaluate(
            "(bar) => bar.contains(document.activeElement)", bar.element_handle()
        )
        assert is_inside or focused <= covered


def test_a_schedule_is_described_in_words_and_cron_is_for_the_rest(admin_page: Page):
    page = admin_page
    page.goto(SCHEDULE)

    expect(page.get_by_label("Expression")).to_be_hidden()
    expect(page.get_by_label("Time", exact=True)).to_be_visible()
    page.locator("[name=repeats]").select_option("weekly")
    expect(page.get_by_label("Tuesday")).to_be_visible()
    page.locator("[name=repeats]").select_option("advanced")
    expect(page.get_by_label("Expression")).to_be_visible()
    expect(page.get_by_label("Time", exact=True)).to_be_hidden()


def test_the_current_page_is_in_view_in_a_menu_that_scrolls(admin_page: Page):
    page = admin_page
    page.set_viewport_size({"width": 1440, "height": 500})
    page.goto(SCHEDULE)

    expect(page.locator("#nav-sidebar-apps a.active")).to_be_in_viewport()


def test_an_input_for_a_file_shows_the_name_of_the_chosen_file(admin_page: Page):
    page = admin_page
    page.goto("/admin/workspace/sharedfile/add/")
    box = page.locator(".file-input")

    expect(box).to_contain_text("No file chosen")
    page.get_by_label("File").set_input_files(
        {"name": "guide.pdf", "mimeType": "application/pdf", "buffer": b"%PDF"}
    )
    expect(box).to_contain_text("guide.pdf")
