"""Where a run leads to: the studio with its question, and a case that is made of it.

Each link is there as soon as the page that it leads to is, for those who may open it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse

from apps.catalog.models import Application
from apps.console.admin.run_contents import may_read
from apps.console.operated import edited
from apps.live.run_summary import RunSummary

STUDIO = "studio:page"
CASE = "admin:cases_case_add"


@dataclass(frozen=True, slots=True)
class RunLink:
    text: str
    url: str


def links_of(request: HttpRequest, run: RunSummary) -> Iterator[RunLink]:
    application = edited(request).filter(slug=run.application).first()
    if application is None:
        return
    yield RunLink(
        "The application", reverse("admin:catalog_application_change", args=[application.pk])
    )
    if may_read(request):
        yield from links_with_contents(run, application)


def links_with_contents(run: RunSummary, application: Application) -> Iterator[RunLink]:
    wanted: tuple[tuple[str, str, list[Any], dict[str, Any]], ...] = (
        ("Replay on the draft", STUDIO, [application.pk], {"replay": run.pk}),
        ("Make a case of it", CASE, [], {"run": run.pk}),
    )
    for text, name, arguments, query in wanted:
        try:
            yield RunLink(text, f"{reverse(name, args=arguments)}?{urlencode(query)}")
        except NoReverseMatch:
            continue  # this installation has no such page
