"""Checks whether an application must pass its test cases before it is published, and whether it
does.
"""

from __future__ import annotations

from apps.cases.models import Case, CaseRun, CaseSettings
from apps.cases.targets import digest_of_document
from apps.catalog.models import Application

MOST_NAMED = 5


def requires_cases(application: Application) -> bool:
    return CaseSettings.objects.filter(application=application.pk, requires_cases=True).exists()


def publication_problems(application: Application) -> list[str]:
    """Return the reasons why test cases prevent the application from being published, or [] if they
    do not.

    Only the latest run of all test cases counts, and only if the draft has not changed since.
    """
    if not requires_cases(application):
        return []
    cases = Case.objects.filter(application=application.pk)
    changed = cases.order_by("-updated_at").values_list("updated_at", flat=True).first()
    if changed is None:
        return [
            (
                "This application can be published only after its test cases pass, and it has "
                "none. Add a test case."
            )
        ]
    runs = CaseRun.objects.filter(
        application=application.pk,
        document_digest=digest_of_document(application.manifest),
        is_whole=True,
        started_at__gte=changed,
    ).exclude(state=CaseRun.State.RUNNING)
    newest = runs.order_by("-pk").first()
    if newest is None:
        return [
            (
                "This application can be published only after its test cases pass. Run all of them "
                "on the current draft."
            )
        ]
    if newest.state == CaseRun.State.PASSED:
        return []
    names = newest.results.filter(passed=False).values_list("name", flat=True)
    failed = list(dict.fromkeys(names))
    if not failed:
        return [
            f"The last test run on this draft did not finish: {newest.problem or newest.state}."
        ]
    named = ", ".join(f"“{name}”" for name in failed[:MOST_NAMED])
    more = f" and {len(failed) - MOST_NAMED} more" if len(failed) > MOST_NAMED else ""
    return [f"Test cases failed on this draft: {named}{more}."]
