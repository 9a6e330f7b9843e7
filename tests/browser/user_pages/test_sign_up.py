"""A new installation: its first administrator, users who sign up, invitations, new passwords."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import barriers, watch
from tests.sites.serving import Site, serve

PASSWORD = "a-long-password-for-tests"
LOOKS: tuple[tuple[Literal["light", "dark"], int], ...] = (("light", 1280), ("dark", 390))
LINK = re.compile(r"http://127\.0\.0\.1:\d+/\S+")


class Mailbox:
    """The messages that the site writes as files into a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def link_to(self, address: str) -> str:
        """Return the link in the newest message to the address."""
        written = sorted(self.folder.iterdir(), key=lambda file: file.stat().st_mtime_ns)
        texts = [file.read_text() for file in written]
        newest = [text for text in texts if f"To: {address}" in text][-1]
        return str(LINK.findall(newest)[0])


@pytest.fixture(scope="module")
def mailbox(tmp_path_factory: pytest.TempPathFactory) -> Mailbox:
    return Mailbox(tmp_path_factory.mktemp("mail"))


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory, mailbox: Mailbox) -> Iterator[Site]:
    """Serve a site without accounts, where users sign up and an administrator approves them."""
    folder = tmp_path_factory.mktemp("empty")
    with serve(folder, SIGN_UP="approval", EMAIL_URL=f"file://{mailbox.folder}") as served:
        yield served


class People:
    """Browser profiles of several users on one site."""

    def __init__(self, browser: Browser, site: Site) -> None:
        self.browser, self.site = browser, site
        self.problems: list[list[str]] = []

    def page(self) -> Page:
        context = self.browser.new_context(base_url=self.site.url)
        context.set_default_timeout(60_000)
        opened = context.new_page()
        self.problems.append(watch(opened))
        return opened


@pytest.fixture
def people(browser: Browser, empty: Site) -> Iterator[People]:
    made = People(browser, empty)
    yield made
    for context in browser.contexts:
        context.close()
    assert [each for each in made.problems if each] == []


def look(page: Page) -> None:
    """Check that the page has no accessibility problems, in light and dark, wide and on a phone."""
    for scheme, width in LOOKS:
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.set_viewport_size({"width": width, "height": 900})
        assert barriers(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.set_viewport_size({"width": 1280, "height": 900})
    page.emulate_media(color_scheme="light", reduced_motion="reduce")


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def sign_in(page: Page, name: str, password: str = PASSWORD) -> None:
    page.goto("/accounts/login/")
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(password)
    press(page, "Sign in")


def sign_up(page: Page, name: str, address: str | None) -> None:
    page.get_by_label("Username").fill(name)
    if address:
        page.get_by_label("Email").fill(address)
    page.get_by_label("Password").fill(PASSWORD)
    press(page, "Create account")


def is_signed_in_as(page: Page, name: str) -> None:
    expect(page.locator(".account-name")).to_contain_text(name)


@pytest.mark.slow("a walk through several pages in a browser")
def test_an_installation_begins_and_people_join_it(people: People, empty: Site, mailbox: Mailbox):
    root, ada, eve = people.page(), people.page(), people.page()

    # The first administrator signs up with the token from the log.
    root.goto("/setup/")
    look(root)
    root.get_by_label("Token").fill("guessed")
    root.get_by_label("Username").fill("root")
    for label in ("Password", "Password confirmation"):
        root.get_by_label(label, exact=True).fill(PASSWORD)
    press(root, "Create administrator")
    expect(root.get_by_text("This token is incorrect")).to_be_visible()
    look(root)
    written = re.search(r"enter the token (\S+)", empty.log.read_text())
    assert written is not None
    root.get_by_label("Token").fill(written[1])
    for label in ("Password", "Password confirmation"):
        root.get_by_label(label, exact=True).fill(PASSWORD)
    press(root, "Create administrator")
    root.wait_for_url("**/admin/")
    answer = ada.goto("/setup/")
    assert answer is not None
    assert answer.status == 404

    # A user signs up, confirms the address and waits for approval.
    ada.goto("/accounts/login/")
    look(ada)
    ada.get_by_role("link", name="Create one").click()
    look(ada)
    sign_up(ada, "ada", "ada@example.org")
    expect(ada.get_by_role("heading", name="Almost there")).to_be_visible()
    look(ada)
    ada.goto(mailbox.link_to("ada@example.org"))
    look(ada)
    press(ada, "Confirm")
    expect(
        ada.get_by_text("Your account is waiting for an administrator’s approval.")
    ).to_be_visible()
    look(ada)
    sign_in(ada, "ada")
    expect(ada.get_by_role("alert")).to_contain_text(
        "Enter a correct username or email address and password"
    )

    root.goto("/admin/accounts/signup/")
    assert barriers(root) == []
    root.locator("input[name=_selected_action]").check()
    root.locator("select[name=action]").select_option("approve")
    root.locator("button[name=index]").click()
    expect(root.get_by_text("The selected accounts were approved.")).to_be_visible()
    ada.goto(mailbox.link_to("ada@example.org"))
    sign_in(ada, "ada")
    is_signed_in_as(ada, "ada")

    # An invitation without an address shows its link once.
    root.goto("/admin/accounts/invitation/")
    assert barriers(root) == []
    root.goto("/admin/accounts/invitation/add/")
    assert barriers(root) == []
    root.get_by_role("button", name="Save", exact=True).click()
    link = root.get_by_label("Link").input_value()
    assert barriers(root) == []
    root.reload()
    expect(root.get_by_text("cannot be shown again")).to_be_visible()
    eve.goto(link)
    sign_up(eve, "eve", "eve@example.org")
    eve.goto(mailbox.link_to("eve@example.org"))
    press(eve, "Confirm")
    sign_in(eve, "eve")
    is_signed_in_as(eve, "eve")

    # An invitation with an address is mailed, and opening its link confirms the address.
    root.goto("/admin/accounts/invitation/add/")
    root.get_by_label("Email").fill("zoe@example.org")
    root.get_by_role("button", name="Save", exact=True).click()
    expect(root.get_by_text("The invitation was sent to zoe@example.org.")).to_be_visible()
    zoe = people.page()
    zoe.goto(mailbox.link_to("zoe@example.org"))
    look(zoe)
    sign_up(zoe, "zoe", None)
    is_signed_in_as(zoe, "zoe")
    zoe.goto("/accounts/signup/waiting/")
    eve.goto(link)
    expect(eve.get_by_role("heading", name="This invitation can’t be used")).to_be_visible()
    look(eve)


@pytest.mark.slow("a walk through several pages in a browser")
def test_people_change_and_reset_passwords_and_change_addresses(
    people: People, empty: Site, mailbox: Mailbox
):
    empty.shell(
        """
        from django.contrib.auth.models import User
        User.objects.create_user("grace", "grace@example.org", password)
        """,
        password=PASSWORD,
    )
    grace = people.page()

    grace.goto("/accounts/login/")
    grace.get_by_role("link", name="Forgot your password?").click()
    look(grace)
    grace.get_by_label("Email").fill("grace@example.org")
    press(grace, "Send link")
    expect(grace.get_by_text("We’ve sent you an email.")).to_be_visible()
    look(grace)
    grace.goto(mailbox.link_to("grace@example.org"))
    look(grace)
    for label in ("New password", "New password (again)"):
        grace.get_by_label(label, exact=True).fill("another-long-password")
    press(grace, "Save")
    expect(grace.get_by_text("You can now sign in with your new password.")).to_be_visible()
    look(grace)
    sign_in(grace, "grace", "another-long-password")
    is_signed_in_as(grace, "grace")

    grace.goto("/accounts/password/change/")
    look(grace)
    grace.get_by_label("Current password").fill("another-long-password")
    for label in ("New password", "New password (again)"):
        grace.get_by_label(label, exact=True).fill(PASSWORD)
    press(grace, "Change password")
    expect(grace.get_by_role("status")).to_contain_text("Password successfully changed.")

    grace.goto("/accounts/email/")
    look(grace)
    grace.get_by_label("Email").fill("new@example.org")
    press(grace, "Send confirmation email")
    look(grace)
    grace.get_by_label("Password").fill(PASSWORD)
    press(grace, "Confirm")
    expect(grace.get_by_role("heading", name="Not confirmed yet")).to_be_visible()
    look(grace)
    grace.goto(mailbox.link_to("new@example.org"))
    press(grace, "Confirm")
    grace.goto("/accounts/email/")
    expect(grace.get_by_text("Your email address is new@example.org.")).to_be_visible()


@pytest.mark.parametrize("path", ["/accounts/signup/", "/accounts/password/reset/"])
def test_where_nobody_signs_up_and_no_mail_is_sent_the_pages_say_so(
    page: Page, site: Site, path: str
):
    page.goto(f"{site.url}{path}")

    said = (
        "Sign-up is closed. Ask an administrator for an account"
        if "signup" in path
        else "this installation has no mail server"
    )
    expect(page.get_by_text(said)).to_be_visible()
    look(page)
