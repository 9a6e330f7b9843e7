"""Renders table cells with two lines, users' names or links, for lists in the admin."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from apps.accounts.persons import name_with_username
from apps.console.admin.callers import person_name
from apps.console.admin.cells import NOTHING

SHOWN_ID = 8
"""A table cell shows this many characters of an ID, enough to distinguish the rows on a page."""
LONGEST_END = 12
"""A shortened long ID has this many characters before and after the ellipsis."""


class RowLink(NamedTuple):
    """A link in a row of a list, shown as an icon."""

    icon: str
    """The name of an icon of the pages."""
    name: str
    """The link's accessible name."""
    url: str


def two_lines(main: object, below: object) -> SafeString:
    """Return a table cell with a main value and, unless it is empty, a second line `below`."""
    if not below:
        return format_html("{}", main)
    cell = '<span class="cell">{}<span class="cell-below">{}</span></span>'
    return format_html(cell, main, below)


def account_cell(user: Any, below: object = "") -> str:
    """Return a table cell with the user's name. The tooltip is the username."""
    if user is None:
        return NOTHING
    name = person_name(user)
    shown = format_html('<span title="{}">{}</span>', user.get_username(), name)
    return two_lines(shown, below)


def account_link(user: Any) -> str:
    """Return the user's name for a form, as a link to the user's page."""
    if user is None:
        return NOTHING
    url = reverse("admin:auth_user_change", args=[user.pk])
    return format_html('<a href="{}" class="text-link">{}</a>', url, name_with_username(user))


def row_links(links: Iterable[RowLink]) -> SafeString:
    link = '<a href="{2}" title="{1}" aria-label="{1}">{0}</a>'
    shown = ((icon(one.icon), one.name, one.url) for one in links)
    return format_html('<span class="row-links">{}</span>', format_html_join("", link, shown))


@lru_cache(maxsize=64)  # A list has the same icons in each row.
def icon(name: str) -> SafeString:
    return render_to_string("chat/icon.html", {"name": name})


def copied_text(id: str, text: str) -> SafeString:
    """Return a text with a button that copies it. `id` is the ID of the text's HTML element."""
    shown = (
        '<span class="copied-text"><code id="{0}" class="break-all">{1}</code> '
        '<button type="button" class="console-button" data-copies="{0}">Copy</button></span>'
    )
    return format_html(shown, id, text)


def copied_id(name: object, element: str, id: object) -> str | SafeString:
    """Return a name such as "Run", or a link, with the first characters of the ID and a button that
    copies the whole ID. Return "" if there is no ID. `element` is the ID of the HTML element with
    the whole ID.
    """
    return copied_short(format_html("{} ", name), element, id, str(id)[:SHOWN_ID]) if id else ""


def copied_long_id(element: str, id: str) -> str | SafeString:
    """Return an ID in one line, without its middle if it is long, and a button that copies the
    whole ID. `element` is the ID of the HTML element with the whole ID.
    """
    shown = f"{id[:LONGEST_END]}…{id[-LONGEST_END:]}" if len(id) > 2 * LONGEST_END else id
    return copied_short("", element, id, shown) if id else ""


def copied_short(name: str, element: str, id: object, shown: str) -> SafeString:
    cell = (
        '<span class="cell-id">{0}<code title="{2}">{3}</code> <button type="button" '
        'class="cell-copy" data-copies="{1}" aria-label="Copy the ID {3}" title="{2}">Copy</button>'
        '<code id="{1}" hidden>{2}</code></span>'
    )
    return format_html(cell, name, element, id, shown)
