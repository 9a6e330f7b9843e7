"""A user switches teams, manages one, and reads a question of another member."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import barriers, open_account, sign_in_as_admin
from tests.sites.serving import Site

PREPARE = """
from django.contrib.auth.models import Group, User
from apps.accounts.models import Team
from apps.conversations.models import Conversation, Message

admin = User.objects.get(username="admin")
marta = User.objects.create_user("marta")
User.objects.create_user("tomas")
team = Team.objects.create(group=Group.objects.create(name="Editors"), visibility="members")
for user in (admin, marta):
    user.groups.add(team.group)
team.administrators.add(admin)
application = Application.objects.create(slug="team-trips", title="Travel desk", is_shared=True)
conversation = Conversation.objects.create(
    application=application, owner=f"user-{marta.pk}-team-{team.pk}", title="A trip to Riga",
    team=team, visibility="members",
)
for role, text in (("user", "When does it leave?"), ("assistant", "At **eight**, from:\\n\\n- gate 4")):
    Message.objects.create(conversation=conversation, role=role, text=text)
"""


@pytest.mark.slow("a walk through several pages in a browser")
@pytest.mark.walkthrough
def test_a_person_works_in_a_team_manages_it_and_reads_what_others_asked(page: Page, site: Site):
    site.shell(PREPARE)
    sign_in_as_admin(page, site)
    page.goto(f"{site.url}/chat/team-trips/")
    expect(page.get_by_role("textbox").first).to_be_visible()
    other = page.context.new_page()
    other.goto(f"{site.url}/")
    open_account(other)
    other.get_by_role("link", name="Teams").click()
    other.get_by_role("button", name="Switch to Editors").focus()
    other.keyboard.press("Enter")
    expect(other.get_by_text("You are working in the team Editors.")).to_be_visible()
    assert barriers(other) == []

    # Other open pages switch to the user's current team.
    expect(page.get_by_text("You are working in the team Editors.")).to_be_visible()

    page.get_by_role("link", name="Team conversations").click()
    expect(page.locator(".facts bdi")).to_have_text(["marta", "Travel desk"])
    assert barriers(page) == []
    page.get_by_role("link", name="A trip to Riga").click()
    expect(page.locator("strong", has_text="eight")).to_be_visible()
    expect(page.get_by_role("textbox")).to_have_count(0)
    assert barriers(page) == []

    open_account(page)
    page.get_by_role("link", name="Team: Editors").click()
    assert barriers(page) == []
    page.get_by_role("link", name="Members of Editors").click()
    page.get_by_label("Exact username or email address").fill("to")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text(
        "No account uses this exact username or email address"
    )
    page.get_by_label("Exact username or email address").fill("tomas")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_have_text("tomas was added to the team.")
    assert barriers(page) == []
    page.get_by_role("button", name="Leave the team").click()
    expect(page.get_by_role("alert")).to_contain_text("needs an administrator")
    page.get_by_role("button", name="Remove tomas").click()
    expect(page.get_by_role("heading", name="tomas")).to_have_count(0)
