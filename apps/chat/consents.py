"""The page on which people say before which tools they are asked."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from apps.accounts.caller import Caller
from apps.catalog.access import usable
from apps.chat.access import own
from apps.chat.visitors import visitor
from apps.integers import read_integer
from apps.live.consents import ask_each_time, tools_called
from apps.live.models import ALL_TOOLS, LONGEST_TOOL_NAME, Consent

LISTED = 500


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def approvals(request: HttpRequest) -> HttpResponse:
    """List them. The form field `consent` withdraws that one; `ask`, an application's key and the
    name of a tool (none: all tools) as `7:pay`, has the person asked each time."""
    caller = visitor(request)
    mine = Consent.objects.filter(bucket=caller.bucket)
    if request.method == "POST":
        if "ask" in request.POST:
            ask_from_now_on(caller, request.POST["ask"])
        else:
            get_object_or_404(mine, pk=read_integer(request.POST.get("consent", ""))).delete()
        return redirect("approvals")
    ordered = mine.select_related("application").order_by("application__title", "tool", "pk")
    entries = described(caller, list(ordered[:LISTED]))
    context = {
        "spared": [entry for entry in entries if entry["consent"].mode == "always"],
        "asked": [entry for entry in entries if entry["consent"].mode == "confirm"],
        "choices": choices(caller),
    }
    return render(request, "chat/approvals.html", context)


def ask_from_now_on(caller: Caller, written: str) -> None:
    """Raises Http404 for what cannot be chosen."""
    key, _, tool = written.partition(":")
    application = get_object_or_404(usable(caller), pk=read_integer(key))
    if len(tool) > LONGEST_TOOL_NAME:
        raise Http404("There is no such tool.")
    ask_each_time(caller.bucket, application.pk, tool)


def choices(caller: Caller) -> list[dict[str, Any]]:
    """What the person may be asked about, by application: all tools, or one that was called."""
    called = tools_called(caller.bucket)
    return [
        {
            "title": application.title,
            "key": application.pk,
            "all": ALL_TOOLS,
            "tools": called.get(application.pk, ()),
        }
        for application in usable(caller).only("title")
    ]


def described(caller: Caller, consents: list[Consent]) -> list[dict[str, Any]]:
    """With the titles of their conversations."""
    streams = {consent.stream for consent in consents if consent.stream}
    conversations = dict(own(caller).filter(pk__in=streams).values_list("pk", "title"))
    return [
        {
            "consent": consent,
            "application": consent.application,
            "conversation": conversations.get(consent.stream) if consent.stream else None,
        }
        for consent in consents
    ]
