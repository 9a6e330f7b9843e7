"""All routes of Django that accept a method that can write."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, get_args

from django.urls import URLPattern, URLResolver, get_resolver
from django.views.generic import RedirectView
from django.views.generic.edit import DeletionMixin, ProcessFormView

from apps.chat.socket.frames import ClientFrame

UNSAFE = frozenset({"POST", "PUT", "PATCH", "DELETE"})


def routes() -> set[tuple[str, str]]:
    """Yield each method with a route that accepts it, as `resolve` names the route."""
    return {(method, route) for route, view in walk(get_resolver()) for method in methods(view)}


def walk(resolver: URLResolver, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for pattern in resolver.url_patterns:
        route = prefix + str(pattern.pattern).removeprefix("^" if prefix else "")
        if isinstance(pattern, URLPattern):
            yield route, pattern.callback
        else:
            yield from walk(pattern, route)


def methods(view: Any) -> frozenset[str]:
    """Return the unsafe methods of a view, or POST if the view does not declare its methods."""
    if (actions := getattr(view, "actions", None)) is not None:
        named = {name.upper() for name in actions} & {
            name.upper() for name in view.cls.http_method_names
        }
        return UNSAFE & named
    if (kind := getattr(view, "view_class", None) or getattr(view, "cls", None)) is not None:
        if issubclass(kind, RedirectView):
            return frozenset()
        if issubclass(kind, ProcessFormView | DeletionMixin):  # does the same for the others
            return frozenset({"POST"})
        return UNSAFE & {name.upper() for name in kind.http_method_names if hasattr(kind, name)}
    found = allowed(view)
    return frozenset({"POST"}) if found is None else UNSAFE & found


def allowed(view: Any) -> frozenset[str] | None:
    """Return the methods that `require_http_methods` allows in any wrapper of a view."""
    seen, waiting = set[int](), [view]
    while waiting:
        function = waiting.pop()
        if id(function) in seen or not callable(function):
            continue
        seen.add(id(function))
        names = getattr(getattr(function, "__code__", None), "co_freevars", ())
        cells = [cell.cell_contents for cell in getattr(function, "__closure__", None) or ()]
        values = dict(zip(names, cells, strict=True))
        if "request_method_list" in values:
            return frozenset(values["request_method_list"])
        waiting += [
            *values.values(),
            *(getattr(function, name, None) for name in ("__wrapped__", "__func__", "func")),
        ]
    return None


def frame_types() -> set[tuple[str, str]]:
    """Return the type of each frame that the page may send, and the kind of an answer."""
    found = set()
    for frame in get_args(ClientFrame):
        for one in get_args(frame) or (frame,):
            kind = one.model_fields.get("kind")
            [name] = get_args(one.model_fields["type"].annotation)
            found.add((name, get_args(kind.annotation)[0] if kind is not None else ""))
    return found


READ_ONLY = {
    r"\^api\(|v1/configuration-support/$": "Answers that there is nothing.",
    "v1/configuration-support/": "Checks what is sent, and stores nothing.",
    "demo/desk/": "A service for trials, which stores nothing.",
    "dial/editor/check/": "Checks what is sent, and stores nothing.",
    "dial/editor/": "Stores in DIAL Core; its own rows are those of the studio.",
    r"api/docs/|notes/links/|admin/find/": "A page.",
    r"accounts/(signup/waiting|confirm-email|invitation/<str:token>)/": "A page.",
    "accounts/2fa/(authenticate|reauthenticate|totp/activate)/": "Takes the code of an authenticator.",
    "accounts/2fa/webauthn/(add|login|reauthenticate)/": "Takes the signature of a security key.",
    "accounts/(oidc|github)/": "Redirects to a provider, or takes its answer.",
    "accounts/login/code/confirm/": "Codes are not sent by mail here.",
    "accounts/password/set/": "Every account that may set a password has one, which it changes.",
    r"accounts/confirm-email/\(\?P|accounts/password/reset/key": "Takes a token that was sent by mail.",
    "admin/(login|logout|search|autocomplete|jsi18n|password_change/done|r/|\\(|$|\\^)": "Django's pages.",
    "admin/.*/(history|created|secret|standing|schema|files)/$": "A page.",
    "admin/(accounts/team|accounts/auditentry|accounts/erasurereport|catalog/contentitem|runs/runsummary|socialaccount/socialaccount|tasks/chorerun)/$": "A list without actions.",
    "admin/tasks/(taskfailure|chorerun/act)/$": "Writes to the queue, whose tables differ; its own tests call it.",
    r"admin/(insights/(price|budget)|workspace/sharedfile|triggers/\w+)/.*restore/": "Not restorable.",
    r"api/notifications|api/IAIAssistantApi/(tasks/<uuid:task>|conversations|conversations/<uuid:conversation>)$": "Takes GET alone.",
    r"\^openai/deployments/\(\?P<slug>\.\+\?\)/configuration|\^\(\?:openai/\(\?:v1|\^v1/(bucket|metadata)|\^(healthz|readyz|metrics)|\^openai\(": "Takes GET alone.",
    r"\^\(\?:openai/\)\?v1/responses/\(\?P<response>\[\^/\]\+\)/(\?\$|input_items)": "Takes GET and DELETE, which is called.",
    r"\^a2a/.*(agent-card|AgentCard|/tasks\$|id>\[\^/:\]\+\)\$|subscribe)|\^\\.well-known": "Takes GET alone, or POST with the effect of GET.",
    r"\^a2a/.*pushNotificationConfigs/\(": "Takes GET and DELETE, which is called.",
    r"\^v1/files": "Takes PUT and DELETE, which are called.",
    "admin/workspace/tooldescription/.*/change/": "Its form has no fields.",
    "admin/accounts/signup/.*/change/": "Its form has no fields.",
}
"""Routes that write no row although they accept unsafe methods, as patterns with the reason."""


def reason(route: str) -> str:
    """Return the reason why a route is not called, or "" if it must be."""
    return next((why for pattern, why in READ_ONLY.items() if re.match(pattern, route)), "")
