"""Loads the versions that a page compares, and collects the reasons for rejected actions."""

from collections.abc import Callable
from typing import Any

from django.core.exceptions import ValidationError
from django.http import Http404

from apps.catalog.actions.take_over import ConflictsOpen
from apps.catalog.field_problems import field_problems
from apps.catalog.models import Application
from apps.catalog.versions.comparison import ComparisonSide, draft_side, version_side
from apps.catalog.versions.drafts import DraftOvertaken
from apps.console.operator_rights import get_version
from apps.integers import read_integer

DRAFT = "draft"


def refusal_reasons(act: Callable[..., object], *arguments: Any, **options: Any) -> list[str]:
    """Call `act` with the arguments. Return the reasons if it rejects them, or [] if it
    succeeds.
    """
    try:
        act(*arguments, **options)
    except DraftOvertaken as error:
        return [f"{error} The current content is below."]
    except ConflictsOpen as error:
        return [str(error)]
    except ValidationError as error:
        return [*map(str, field_problems(error))]
    return []


def named_side(row: Application, name: str) -> ComparisonSide:
    """Return one side of a comparison: the draft if `name` is "draft", else the version with the
    number `name`. Raises `Http404` if the version does not exist.
    """
    if name == DRAFT:
        return draft_side(row)
    if (number := read_integer(name)) is None:
        raise Http404
    return version_side(row, get_version(row, number))
