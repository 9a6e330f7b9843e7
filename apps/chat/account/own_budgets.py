"""Adds the user's own budgets to the template context, for the account menu."""

from functools import partial
from typing import Any

from django.http import HttpRequest

from apps.accounts.teams import team_of
from apps.insights.budgets.budget_usage import own_sentences


def own_budgets(request: HttpRequest) -> dict[str, Any]:
    """Return a template context with the user's budgets. The database is queried only if a template
    shows them.
    """
    user = getattr(request, "user", None)
    if user is None:
        return {}
    return {"own_budgets": partial(sentences_of, user, request)}


def sentences_of(user: Any, request: HttpRequest) -> list[str]:
    return own_sentences(user.pk, team_of(user, request.session)) if user.is_authenticated else []
