"""For how many turns the model of an application reads what its tools said."""

from django.conf import settings

from apps.agent.durations import Durations
from apps.manifest.orchestrator import ContextLimits


def result_durations(context: ContextLimits) -> Durations:
    """The manifest's own, and the installation's for tools that it does not name."""
    default = settings.TOOL_RESULT_DURATION
    return Durations(context.durations, default if default >= 0 else None)
