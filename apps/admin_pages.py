"""Defines the admin pages that apps declare in their configs, from which the admin's menu is built."""

from dataclasses import dataclass
from typing import Literal

Group = Literal["Build", "Watch", "Govern", "Automate"]


@dataclass(frozen=True, slots=True)
class AdminPage:
    """A page of the admin, by default the list of a `model` such as `catalog.contentitem`.

    - `place`: the position among the pages of the group.
    - `below`: the title of the page of which this one is a tab, instead of being in the menu.
    - `about`: the purpose of the list, which an empty list shows.
    - `url`: the name of the page's URL, if it is not the list of a model.
    - `permission`: the dotted path of a function that gets the request and returns True if the user
      can see the page. Without one, users who can view the model see the page.
    """

    group: Group
    place: int
    title: str
    icon: str
    model: str = ""
    about: str = ""
    below: str = ""
    url: str = ""
    permission: str = ""
