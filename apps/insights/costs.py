"""What runs and conversations cost, in one query each."""

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


def cost_of_conversation(conversation: UUID) -> Sums:
    found = Sums()
    for row in model_counts(ModelCall.objects.filter(conversation=conversation)):
        found.add(row)
    return found
