"""Defines template tags that read the admin's menu: breadcrumbs, tabs and titles of lists."""

from typing import Any

from django import template
from django.contrib.admin.utils import quote
from django.db.models import Model
from django.urls import NoReverseMatch, reverse

from apps.admin_pages import AdminPage
from apps.console import menu

register = template.Library()


@register.simple_tag
def list_title(opts: Any) -> str:
    return menu.list_title(opts)


@register.simple_tag
def list_about(opts: Any) -> str:
    """Return the purpose of a model's list, or "" if the menu has no page for it."""
    page = menu.page_of_list(opts.label_lower)
    return page.about if page else ""


@register.filter
def in_sentence(title: str) -> str:
    """Convert the first letter of a title to lowercase, unless the title starts with an
    abbreviation, as in `API keys`.
    """
    return title if title[1:2].isupper() else title[:1].lower() + title[1:]


@register.inclusion_tag("admin/menu/tabs.html", takes_context=True)
def section_tabs(context: template.RequestContext) -> dict[str, Any]:
    return {"tabs": menu.tabs(context["request"])}


@register.inclusion_tag("admin/menu/path.html", takes_context=True)
def page_path(context: template.RequestContext) -> dict[str, Any]:
    """Return the breadcrumbs in the header, from the menu item to the current page.

    Our own admin pages render their last breadcrumbs themselves, as `own_path`.
    """
    own_path = str(context.get("own_path") or "")
    found = parents(context) if own_path.strip() else crumbs(context)
    return {"crumbs": found, "own_path": own_path}


def parents(context: template.RequestContext) -> list[dict[str, str]]:
    """Return the breadcrumbs before the current page: the menu item and, if the page belongs to
    another tab, that tab.
    """
    page, opts = menu.current_page(context["request"]), context.get("opts")
    if page is not None:
        return [crumb(one.title, menu.page_url(one)) for one in family(page)]
    return [] if opts is None else [crumb(menu.list_title(opts), list_url(opts))]


def crumbs(context: template.RequestContext) -> list[dict[str, str]]:
    request = context["request"]
    page, opts, found = menu.current_page(request), context.get("opts"), parents(context)
    if context.get("cl") is not None and page is None:
        return [crumb(found[0]["title"])]
    if page is not None and request.path == menu.page_url(page):
        return [*found[:-1], crumb(page.title)]
    row = context.get("original") or context.get("object")
    if isinstance(row, Model) and opts is not None and row._meta.model is opts.model:
        address = reverse(f"admin:{opts.app_label}_{opts.model_name}_change", args=[quote(row.pk)])
        name = str(context.get("subtitle") or row)
        found.append(crumb(name, "" if request.path == address else address))
        if request.path == address:
            return found
    title = str(context.get("title") or "")
    return [*found, crumb(title)] if title else found


def family(page: AdminPage) -> list[AdminPage]:
    """Return the page, after the first page of its menu item if that is a different page."""
    above = [one for one in menu.declared_pages() if one.title == page.below]
    return [*above, page]


def list_url(opts: Any) -> str:
    try:
        return reverse(f"admin:{opts.app_label}_{opts.model_name}_changelist")
    except NoReverseMatch:
        return ""


def crumb(title: str, link: str = "") -> dict[str, str]:
    return {"title": title, "link": link}
