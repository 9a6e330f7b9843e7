"""Builds the lists of values that filter a page. Each value is a link."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.http import HttpRequest


@dataclass(frozen=True, slots=True)
class LinkOption:
    title: str
    url: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class LinkChoices:
    """The values of one query parameter, for `admin/choice.html`."""

    options: list[LinkOption]

    @property
    def chosen(self) -> str:
        return next((one.title for one in self.options if one.is_chosen), self.options[0].title)

    @property
    def is_narrowed(self) -> bool:
        """True if a value other than the first is chosen. The first one selects all rows."""
        return any(one.is_chosen for one in self.options[1:])


def link_choices(request: HttpRequest, name: str, titles: Mapping[str, str]) -> LinkChoices:
    """Return a link for each value of the query parameter. The other parameters remain, except for
    the page number.
    """
    value = request.GET.get(name, "")
    options = []
    for one, title in titles.items():
        query = request.GET.copy()
        for page in ("page", "p"):
            query.pop(page, None)
        query[name] = one
        if not one:
            del query[name]
        options.append(LinkOption(title, f"?{query.urlencode()}", one == value))
    return LinkChoices(options)
