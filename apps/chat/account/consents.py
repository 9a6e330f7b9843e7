"""The page on which users choose which tools need their approval."""

from collections.abc import Iterable
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from apps.accounts.caller import Caller
from apps.agent.tool_titles import tool_title
from apps.catalog.access import usable
from apps.chat.visitors import visitor
from apps.conversations.access import own
from apps.integers import read_integer
from apps.live.consents import ask_each_time, tools_called
from apps.live.models import ALL_TOOLS, LONGEST_TOOL_NAME, Consent

LISTED = 500


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def approvals(request: HttpRequest) -> HttpResponse:
    """Show the user's stored approval choices, or change them.

    A POST with the form field `consent` deletes the choice whose ID is in this field. A POST with
    the field `ask` requires approval for each call to a tool: `7:pay` means the tool `pay` of the
    application with primary key 7, and `7:` means all its tools.
    """
    caller = visitor(request)
    mine = Consent.objects.filter(bucket=caller.bucket)
    if request.method == "POST":
        if "ask" in request.POST:
            ask_from_now_on(caller, request.POST["ask"])
        else:
            get_object_or_404(mine, pk=read_integer(request.POST.get("consent", ""))).delete()
        return redirect("approvals")
    ordered = mine.select_related("application").order_by("application__title", "tool", "pk")
    entries = describe_consents(caller, list(ordered[:LISTED]))
    context = {
        "spared": [entry for entry in entries if entry["consent"].mode == "always"],
        "asked": [entry for entry in entries if entry["consent"].mode == "confirm"],
        "choices": choices(caller),
    }
    return render(request, "chat/approvals.html", context)


def ask_from_now_on(caller: Caller, written: str) -> None:
    """Require approval for the tool that `written` names. `7:pay` means the tool `pay` of the
    application with primary key 7, and `7:` means all its tools. Raises Http404 if the user cannot
    use the application.
    """
    key, _, tool = written.partition(":")
    application = get_object_or_404(usable(caller), pk=read_integer(key))
    if len(tool) > LONGEST_TOOL_NAME:
        raise Http404("This tool does not exist.")
    ask_each_time(caller.bucket, application.pk, tool)


def choices(caller: Caller) -> list[dict[str, Any]]:
    """Return the user's applications as template data, each with the tools that it has called in
    the user's conversations.
    """
    called = tools_called(caller.bucket)
    return [
        {
            "title": application.title,
            "key": application.pk,
            "all": ALL_TOOLS,
            "tools": titled(called.get(application.pk, ())),
        }
        for application in usable(caller).only("title")
    ]


def titled(tools: Iterable[str]) -> list[tuple[str, str]]:
    """Return the names of the tools with their titles, sorted by title."""
    titles = ((name, gettext(tool_title(name))) for name in tools)
    return sorted(titles, key=lambda tool: tool[1].casefold())


def describe_consents(caller: Caller, consents: list[Consent]) -> list[dict[str, Any]]:
    """Return template data for the consents, with the titles of their tools and
    conversations.
    """
    streams = {consent.stream for consent in consents if consent.stream}
    conversations = dict(own(caller).filter(pk__in=streams).values_list("pk", "title"))
    return [
        {
            "consent": consent,
            "tool": gettext(tool_title(consent.tool)) if consent.tool != ALL_TOOLS else "",
            "application": consent.application,
            "conversation": conversations.get(consent.stream) if consent.stream else None,
        }
        for consent in consents
    ]
