"""What the account menu says of a person's own budgets."""

from functools import partial
from typing import Any

from django.http import HttpRequest

from apps.accounts.teams import team_of
from apps.insights.budgets.standings import own_sentences


def own_budgets(request: HttpRequest) -> dict[str, Any]:
    """A context processor: the database is asked only by templates that show it."""
    user = getattr(request, "user", None)
    if user is None:
        return {}
    return {"own_budgets": partial(sentences_of, user, request)}


def sentences_of(user: Any, request: HttpRequest) -> list[str]:
    return own_sentences(user.pk, team_of(user, request.session)) if user.is_authenticated else []
