"""What was asked in a run, for the draft to be asked the same."""

from typing import Any
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest

from apps.cases.from_runs import kept_messages, turns_of
from apps.catalog.models import Application
from apps.console.admin.run_contents import may_read, record_reading
from apps.live.run_summary import RunSummary

REPLAY = "replay"
"""In the address of the studio: the id of a run of the application."""


def replayed_turns(request: HttpRequest, row: Application) -> list[dict[str, Any]]:
    """The turns of the run that the address names, the question last; [] for none.

    The reading is recorded. Raises PermissionDenied, Http404.
    """
    named = request.GET.get(REPLAY, "")
    if not named:
        return []
    try:
        run = RunSummary.objects.get(pk=UUID(named), application=row.slug)
    except (ValueError, RunSummary.DoesNotExist):
        raise Http404 from None
    record_reading(request, run, "its question replayed on the draft", is_allowed=may_read(request))
    if not may_read(request):
        raise PermissionDenied
    found = turns_of(kept_messages(run.pk))
    return [
        {
            "role": one["role"],
            "content": one["text"],
            **({"name": one["name"]} if "name" in one else {}),
        }
        for one in found
    ]
