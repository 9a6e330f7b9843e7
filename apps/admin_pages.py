"""Defines how apps declare their admin pages in their configs. The admin's menu lists these pages."""

from dataclasses import dataclass
from typing import Literal

Group = Literal["Build", "Watch", "Govern", "Automate"]


@dataclass(frozen=True, slots=True)
class AdminPage:
    """A page in the admin: by default, the list of a `model` such as `catalog.contentitem`."""

    group: Group
    place: int
    """The position within the group in the menu."""
    title: str
    icon: str
    """The name of the icon in the menu, from `tools/fonts/icons.py`, or "" for a tab."""
    model: str = ""
    about: str = ""
    """The purpose of the list, shown if the list is empty."""
    row: str = ""
    """The name of a row in texts, such as "test run", if it differs from the model's name. The
    plural ends in "s".
    """
    below: str = ""
    """The title of the page on which this page is a tab. A tab has no menu item."""
    url: str = ""
    """The name of the page's URL, if it is not the list of a model."""
    permission: str = ""
    """The dotted path of a function that takes the request and returns True if the user can see the
    page. By default, users who can view the model see it.
    """
