"""What runs cost, in one query."""

from collections.abc import Collection
from uuid import UUID

from apps.insights.models import ModelCall
from apps.insights.sums import Sums, by_value, model_counts


def costs_of_runs(runs: Collection[UUID]) -> dict[UUID, Sums]:
    """Of runs that called a model, such as those that wrote the messages of a conversation."""
    found: dict[UUID, Sums] = by_value(
        model_counts(ModelCall.objects.filter(run__in=runs), "run"), "run"
    )
    return found
