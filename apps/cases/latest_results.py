"""Reads the latest results of test cases, for lists."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Max, Q

from apps.cases.models import CaseResult


@dataclass(frozen=True, slots=True)
class CaseStatus:
    """The results of a test case in the latest run that included it."""

    run: int
    at: datetime
    mode: str
    passed: int
    total: int

    @property
    def has_passed(self) -> bool:
        return self.passed == self.total

    @property
    def words(self) -> str:
        if self.total == 1:
            return "passed" if self.passed else "failed"
        return f"{self.passed} of {self.total} passed"


def latest_statuses(cases: Collection[int]) -> dict[int, CaseStatus]:
    """Map the ID of each test case to its latest results. Test cases that have never run are
    omitted. Runs two queries.
    """
    results = CaseResult.objects.filter(case__in=cases).order_by()
    newest = dict(results.values_list("case").annotate(newest=Max("run")))
    rows = (
        results.filter(run__in=set(newest.values()))
        .values_list("case", "run", "run__started_at", "run__mode")
        .annotate(passed=Count("pk", filter=Q(passed=True)), total=Count("pk"))
    )
    return {
        case: CaseStatus(run, at, mode, passed, total)
        for case, run, at, mode, passed, total in rows
        if newest[case] == run
    }
