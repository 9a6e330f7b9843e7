"""Links the admin page of a run to the run's application, to a replay, and to a new test case."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse

from apps.catalog.models import Application
from apps.console.admin.watch.run_contents import may_read
from apps.console.admin.watch.run_outcome import RunTranscript
from apps.console.operator_rights import editable_applications
from apps.live.run_summary import RunSummary

STUDIO = "studio:page"
CASE = "admin:cases_case_add"
NOT_STORED = (
    "The run can’t be replayed, and no test case can be created from it, because its messages are "
    "not stored."
)
IS_RUNNING = "You can replay the run, or create a test case from it, after it has ended."


@dataclass(frozen=True, slots=True)
class RunLink:
    text: str
    url: str


def links_of(request: HttpRequest, run: RunSummary, said: RunTranscript) -> dict[str, Any]:
    """Return the template context with the `links` on a run's page and, in `why_no_replay`, the
    reason why the run cannot be replayed.
    """
    application = editable_applications(request).filter(slug=run.application).first()
    if application is None:
        return {"links": []}
    links = [RunLink("Open in studio", reverse(STUDIO, args=[application.pk]))]
    if not may_read(request):
        return {"links": links}
    reason = IS_RUNNING if run._state.adding else "" if said.has_turns else NOT_STORED
    more = [] if reason else links_with_contents(run, application)
    return {"links": [*links, *more], "why_no_replay": reason}


def links_with_contents(run: RunSummary, application: Application) -> Iterator[RunLink]:
    wanted: tuple[tuple[str, str, list[Any], dict[str, Any]], ...] = (
        ("Replay on the draft", STUDIO, [application.pk], {"replay": run.pk}),
        ("Create a test case", CASE, [], {"run": run.pk}),
    )
    for text, name, arguments, query in wanted:
        try:
            yield RunLink(text, f"{reverse(name, args=arguments)}?{urlencode(query)}")
        except NoReverseMatch:
            continue  # This installation does not have the page.
