"""Describes the applications and predefined items that use a row, such as a secret."""

from collections.abc import Iterable, Sequence

from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from apps.catalog.uses import ItemUser
from apps.console.operator_rights import may_view_applications, visible_applications

LINK = (
    '<a href="{}" class="text-primary-700 underline dark:text-primary-400">{}</a> <code>{}</code>'
)
MOST_NAMED = 100
MOST_IN_SENTENCE = 10


def link_to(user: ItemUser) -> SafeString:
    if user.kind == "application":
        url = reverse("studio:page", args=[user.pk])
    else:
        url = reverse("admin:catalog_contentitem_item", args=[user.kind, user.name])
    return format_html(LINK, url, f"{user.kind} {user.name}", user.path)


def bullet_list(lines: Iterable[SafeString | str]) -> SafeString:
    return format_html("<ul>{}</ul>", format_html_join("", "<li>{}</li>", zip(lines, strict=True)))


def dependent_lines(request: HttpRequest, users: Sequence[ItemUser]) -> list[SafeString | str]:
    """Return links to the applications and items in `users`. The last lines count the entries that
    exceed the limit or that the user may not see.
    """
    shown = seen_users(request, users)
    lines: list[SafeString | str] = [link_to(user) for user in shown[:MOST_NAMED]]
    if more := len(shown) - len(lines):
        lines.append(f"and {more} more")
    if hidden := len(users) - len(shown):
        lines.append(f"{hidden} more that you cannot see")
    return lines


def dependent_names(request: HttpRequest, users: Sequence[ItemUser]) -> str:
    """Return the names of the applications and items in `users` as a list for a sentence. The list
    ends with a count, such as "2 more", if some entries exceed the limit or are hidden from the
    user.
    """
    seen = seen_users(request, users)
    names = list(dict.fromkeys(f"{user.kind} {user.name}" for user in seen))
    hidden = len({(user.kind, user.pk, user.name) for user in users if user not in seen})
    more = hidden + max(0, len(names) - MOST_IN_SENTENCE)
    shown = names[:MOST_IN_SENTENCE]
    return ", ".join([*shown, f"{more} more"] if shown and more else shown or [f"{more} others"])


def seen_users(request: HttpRequest, users: Sequence[ItemUser]) -> list[ItemUser]:
    applications = seen_applications(request)
    items = request.user.has_perm("catalog.view_contentitem")
    return [
        user for user in users if (user.pk in applications if user.kind == "application" else items)
    ]


def seen_applications(request: HttpRequest) -> set[int]:
    if not may_view_applications(request):
        return set()
    return set(visible_applications(request).order_by().values_list("pk", flat=True))
