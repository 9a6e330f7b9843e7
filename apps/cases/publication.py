"""Whether the cases of an application let a document be published."""

from __future__ import annotations

from typing import Any

from apps.cases.models import Case, CaseRun, CaseSettings
from apps.cases.targets import digest_of_document
from apps.catalog.models import Application

MOST_NAMED = 5


def requires_cases(application: Application) -> bool:
    return CaseSettings.objects.filter(application=application.pk, requires_cases=True).exists()


def publication_problems(application: Application, document: Any) -> list[str]:
    """Why the application's own rule forbids to publish the document; [] where there is none.

    The newest run of all cases on that very document counts.
    """
    if not requires_cases(application):
        return []
    cases = Case.objects.filter(application=application.pk)
    changed = cases.order_by("-updated_at").values_list("updated_at", flat=True).first()
    if changed is None:
        return ["This application is published only after its cases have passed, and it has none."]
    runs = CaseRun.objects.filter(
        application=application.pk,
        document_digest=digest_of_document(document),
        is_whole=True,
        started_at__gte=changed,
    ).exclude(state=CaseRun.State.RUNNING)
    newest = runs.order_by("-pk").first()
    if newest is None:
        return [
            "This application is published only after its cases have passed. Run all of them on "
            "the draft as it is now."
        ]
    if newest.state == CaseRun.State.PASSED:
        return []
    names = newest.results.filter(passed=False).values_list("name", flat=True)
    failed = list(dict.fromkeys(names))
    if not failed:
        return [
            f"The last run of the cases on this draft did not end: {newest.problem or newest.state}."
        ]
    named = ", ".join(f"“{name}”" for name in failed[:MOST_NAMED])
    more = f" and {len(failed) - MOST_NAMED} more" if len(failed) > MOST_NAMED else ""
    return [f"Cases failed on this draft: {named}{more}."]
