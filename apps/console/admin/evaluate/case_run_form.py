"""Defines the form that operators use to start a run of test cases."""

from typing import Any, cast

from django import forms
from django.http import HttpRequest

from apps.cases.models import CaseRun
from apps.cases.player import Mode
from apps.cases.runner import MOST_TIMES, CaseRunRequest
from apps.cases.targets import DRAFT, LIVE
from apps.catalog.models import Application, ApplicationVersion
from apps.catalog.review.manifests import unknown_deployments
from apps.catalog.versions.drafts import draft_of
from apps.catalog.versions.states import has_draft
from apps.console.admin.theme import SearchedSelect
from apps.integers import read_integer

MODEL = "orchestrator.deployment."
MOST_VERSIONS = 20
MODES = (
    (
        CaseRun.Mode.REPLAY,
        "Replay",
        "Models and tools respond from the recording: free, offline, and always the same.",
    ),
    (
        CaseRun.Mode.MODELS,
        "Models live, tools from the recording",
        "Models are called and incur costs. A tool call that is not recorded runs only if the tool "
        "changes nothing.",
    ),
    (
        CaseRun.Mode.LIVE,
        "Live",
        "Models and tools are called, with their costs and side effects. The run acts as you, "
        "without your memory, files and accounts.",
    ),
)


class CaseRunForm(forms.Form):
    target = forms.ChoiceField(label="State", widget=SearchedSelect)
    mode = forms.ChoiceField(choices=[(mode.value, title) for mode, title, _ in MODES])
    times = forms.IntegerField(label="Attempts per test case", min_value=1, max_value=MOST_TIMES)
    is_recording = forms.BooleanField(required=False)
    is_approved = forms.BooleanField(required=False)

    def __init__(self, application: Application, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        cast(forms.ChoiceField, self.fields["target"]).choices = targets_of(application)

    def request(self, cases: list[int] | None) -> CaseRunRequest:
        """Convert the valid form to a request for a run. `cases` contains the IDs of the test
        cases, or None for all test cases.
        """
        chosen = self.cleaned_data
        mode: Mode = chosen["mode"]
        return CaseRunRequest(
            *(chosen["target"], mode, chosen["times"]),
            *(chosen["is_recording"], chosen["is_approved"], cases),
        )


def first_choices(application: Application, target: str, *, is_recorded: bool) -> dict[str, Any]:
    """Return the initial values of the form.

    If a test case has no recording (`is_recorded` is False) and the model can be called, the form
    selects a live run that records the responses. Otherwise, it selects a replay.
    """
    is_live = not is_recorded and not model_problem(application, target)
    mode = CaseRun.Mode.LIVE if is_live else CaseRun.Mode.REPLAY
    return {"times": 1, "target": target, "mode": mode, "is_recording": is_live}


def model_problem(application: Application, target: str) -> str:
    """Return the reason why the application cannot call its model, or "". `target` selects the
    draft or the live version.
    """
    document = draft_of(application).manifest if target == DRAFT else application.manifest
    problems = unknown_deployments(document)
    return next((one.message for one in problems if one.path.startswith(MODEL)), "")


def targets_of(application: Application) -> list[tuple[str, str]]:
    """Return the states of the application that can be tested (draft, live and older versions),
    each with its label. The first one is the default.
    """
    found = []
    if has_draft(application):
        found.append((DRAFT, "The draft"))
    if application.live_number:
        found.append((LIVE, f"Live: version {application.live_number}"))
    rows = ApplicationVersion.objects.filter(application=application, withdrawn_at=None)
    for number, note in rows.values_list("number", "note")[:MOST_VERSIONS]:
        if number != application.live_number:
            found.append((str(number), f"Version {number}: {note}"))
    return found


def numbers_in(request: HttpRequest) -> list[int] | None:
    """Return the IDs in the query parameters `case`, or None for all test cases."""
    given = map(read_integer, request.GET.getlist("case"))
    return [number for number in given if number is not None] or None
