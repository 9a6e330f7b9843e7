"""Defines how apps declare their admin pages in their configs. The admin's menu is built from these
declarations.
"""

from dataclasses import dataclass
from typing import Literal

Group = Literal["Build", "Watch", "Govern", "Automate"]


@dataclass(frozen=True, slots=True)
class AdminPage:
    """A page of the admin, by default the list of a `model` such as `catalog.contentitem`.

    - `place`: the position of the page within its group in the menu.
    - `below`: the title of another page, of which this page is a tab. It then has no menu item of
      its own.
    - `about`: the purpose of the list, which the page shows if the list is empty.
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
