"""Builds the admin's menu and tabs from the pages that the Django apps declare."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, get_args

from django.apps import apps
from django.http import HttpRequest
from django.urls import reverse
from django.utils.module_loading import import_string

from apps.admin_pages import AdminPage, Group

HOME = "admin:index"


@dataclass(frozen=True, slots=True)
class Section:
    """A menu item with the pages that the user may see. The item opens the first page, and each
    page is a tab.
    """

    pages: Sequence[AdminPage]

    @property
    def first(self) -> AdminPage:
        return self.pages[0]


def navigation(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the groups of the sidebar, in the format of the theme's `SIDEBAR`."""
    found, current = sections(request), current_page(request)
    elsewhere = [
        {"title": "Chat page", "icon": "message-circle", "link": "/", "active": False},
        {"title": "Admin API", "icon": "code", "link": reverse("api-docs"), "active": False},
    ]
    return [
        *(
            {
                "title": group,
                "items": [entry(one, current) for one in found if one.first.group == group],
            }
            for group in get_args(Group)
        ),
        {"title": "Elsewhere", "items": elsewhere},
    ]


def entry(section: Section, current: AdminPage | None) -> dict[str, Any]:
    page = section.first
    return {
        "title": page.title,
        "icon": page.icon,
        "link": page_url(page),
        "active": current in section.pages,
    }


def sections(request: HttpRequest) -> list[Section]:
    """Return the menu items in order, with only the pages that the user may see."""
    pages = declared_pages()
    tops = [page for page in pages if not page.below]
    families = ([top, *(page for page in pages if page.below == top.title)] for top in tops)
    seen = ([page for page in family if may_open(page, request)] for family in families)
    return [Section(family) for family in seen if family]


def tabs(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the tabs of the requested page, or [] for a page without tabs, such as the form for a
    row.
    """
    current = current_page(request)
    if current is None or page_url(current) != request.path:
        return []
    pages = next((one.pages for one in sections(request) if current in one.pages), ())
    if len(pages) < 2:
        return []
    return [
        {"title": page.title, "link": page_url(page), "active": page == current} for page in pages
    ]


def current_page(request: HttpRequest) -> AdminPage | None:
    """Return the menu page with the longest URL that is a prefix of the requested URL, or None."""
    if request.path == reverse(HOME):
        return next(page for page in declared_pages() if page.url == HOME)
    around = [
        page
        for page in declared_pages()
        if page.url != HOME and request.path.startswith(page_url(page))
    ]
    return max(around, key=lambda page: len(page_url(page)), default=None)


def page_of_list(model: str) -> AdminPage | None:
    """Return the menu page that lists the rows of a model, such as `auth.user`, or None."""
    return next((page for page in declared_pages() if page.model == model and not page.url), None)


def list_title(opts: Any) -> str:
    """Return the title of a model's list: its title in the menu, or else the model's plural
    name.
    """
    page = page_of_list(opts.label_lower)
    name = str(opts.verbose_name_plural)
    return page.title if page else name[:1].upper() + name[1:]


def row_name(opts: Any, count: int = 1) -> str:
    """Return the name of a model's rows in texts: the name that its menu page declares, or else the
    model's name. It is singular if the count is 1.
    """
    page = page_of_list(opts.label_lower)
    if page is not None and page.row:
        return page.row if count == 1 else f"{page.row}s"
    return str(opts.verbose_name if count == 1 else opts.verbose_name_plural)


def declared_pages() -> list[AdminPage]:
    declared = (getattr(config, "admin_pages", ()) for config in apps.get_app_configs())
    return sorted((page for some in declared for page in some), key=attrgetter("place"))


def visible_pages(request: HttpRequest) -> Iterator[AdminPage]:
    for section in sections(request):
        yield from section.pages


def page_url(page: AdminPage) -> str:
    app, _, model = page.model.partition(".")
    return reverse(page.url or f"admin:{app}_{model}_changelist")


def may_open(page: AdminPage, request: HttpRequest) -> bool:
    if page.permission:
        return bool(import_string(page.permission)(request))
    app, _, model = page.model.partition(".")
    return bool(request.user.has_perm(f"{app}.view_{model}"))


def is_staff(request: HttpRequest) -> bool:
    return bool(request.user.is_active and getattr(request.user, "is_staff", False))
