"""Prepares a run of test cases: the application, the attempts to make, and the recordings to
replay.
"""

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from django.utils import timezone

from apps.cases.models import Case, CaseRun, Cassette
from apps.cases.recording import Recording, read_recording
from apps.cases.request_forms import Mask, mask_of
from apps.cases.targets import resolve_target
from apps.catalog.models import Application
from apps.catalog.resolved_application import ResolvedApplication
from apps.insights.prices import PRICES
from apps.manifest.credentials import find_credentials
from apps.workspace.local.models import Deployment, Secret
from apps.workspace.local.secrets import vault

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PlannedAttempt:
    """An attempt at a test case that is still to be made."""

    case: Case
    number: int
    """The number of the attempt at this test case, counted from 1."""
    index: int
    """The index of the attempt in the run."""


@dataclass(frozen=True, slots=True)
class CasePreparation:
    application: ResolvedApplication
    attempts: Sequence[PlannedAttempt]
    recordings: dict[int, tuple[Recording, Cassette]]
    mask: Mask


def prepare_attempts(run: CaseRun, numbers: Collection[int] | None) -> CasePreparation:
    """Prepare the attempts of a run that have no stored result.

    `numbers` are the IDs of test cases, or None for all. Raises `TargetUnknown` if the
    application's version does not exist, and `ApplicationBroken` if its manifest is invalid.
    """
    resolved = resolve_target(run.application, run.target)
    PRICES.refresh()
    cases = chosen_cases(run.application, numbers)
    CaseRun.objects.filter(pk=run.pk).update(seen_at=timezone.now())
    asked = missing_attempts(run, cases)
    return CasePreparation(
        resolved, asked, newest_recordings(cases), installation_mask(resolved.document)
    )


def missing_attempts(run: CaseRun, cases: Sequence[Case]) -> list[PlannedAttempt]:
    """Return the attempts of the run that have no stored result."""
    stored = set(run.results.values_list("case", "attempt"))
    asked = [(case, number) for case in cases for number in range(1, run.times + 1)]
    return [
        PlannedAttempt(case, number, index)
        for index, (case, number) in enumerate(asked)
        if (case.pk, number) not in stored
    ]


def newest_recordings(cases: Sequence[Case]) -> dict[int, tuple[Recording, Cassette]]:
    """Map the ID of each test case to its newest recording. Unreadable recordings are logged and
    omitted.
    """
    found: dict[int, tuple[Recording, Cassette]] = {}
    for row in Cassette.objects.filter(case__in=cases).order_by("pk"):
        try:
            found[row.case_id] = read_recording(row.tape), row
        except msgspec.ValidationError:
            logger.warning("Failed to read the recording %s", row.pk)
    return found


def installation_mask(document: Any) -> Mask:
    """Return a mask that hides the credentials of this installation and of the manifest `document`."""
    known = [
        *Secret.objects.all().values_list("value", flat=True),
        *vault.known_texts(),
        *Deployment.objects.all().values_list("api_key", flat=True),
        *(place.value for place in find_credentials(document, "plain")),
    ]
    return mask_of(one for one in known if isinstance(one, str))


def chosen_cases(application: Application, numbers: Collection[int] | None) -> list[Case]:
    rows = Case.objects.filter(application=application).order_by("name")
    return list(rows if numbers is None else rows.filter(pk__in=numbers))
