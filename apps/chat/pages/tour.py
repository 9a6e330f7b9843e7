"""The tour on the home page. It leads the administrator of a new installation through the first
steps, and ends when all steps are complete or the administrator skips it.
"""

from datetime import timedelta

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from apps.accounts.preferences import Preferences, preferences_of_request
from apps.catalog.models import Application
from apps.chat.visitors import account_user
from apps.doors.first_steps import FirstStep, first_steps

NEW_FOR = timedelta(days=30)
"""The tour is not shown to accounts that are older than this."""


def tour_of(request: HttpRequest) -> list[FirstStep]:
    """Return the remaining steps of the tour, or [] if it has ended or the user is not a new
    administrator.
    """
    if not request.user.is_authenticated:
        return []
    user = account_user(request)
    if not user.is_superuser or timezone.now() - user.date_joined > NEW_FOR:
        return []
    kept = preferences_of_request(request)
    tour = kept.tour if kept is not None else Preferences.Tour.OPEN
    if tour == Preferences.Tour.ENDED:
        return []
    uses_demo = tour == Preferences.Tour.WITH_DEMO
    steps = first_steps(user, Application.objects.all(), uses_demo=uses_demo)
    if not steps:
        store_state(user.pk, Preferences.Tour.ENDED)
    return steps


@login_required
@require_POST
def skip(request: HttpRequest) -> HttpResponse:
    """End the tour. If the form field `step` is `model`, only skip the step that adds a model."""
    only_model = request.POST.get("step") == "model"
    tour = Preferences.Tour.WITH_DEMO if only_model else Preferences.Tour.ENDED
    store_state(account_user(request).pk, tour)
    return redirect("index")


def store_state(user: int, tour: Preferences.Tour) -> None:
    Preferences.objects.update_or_create(user_id=user, defaults={"tour": tour})
