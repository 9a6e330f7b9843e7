"""The context meter: the share of the model's window that a conversation occupies."""

from typing import Any

from apps.agent.progress import Progress
from apps.manifest.manifest import Manifest

KEY = "context_usage"
SOURCE = "model_usage"
"""The tokens that the service of the model reported for the newest request and its answer."""
RECOMMENDED_FROM = 80
"""The percentage from which a client should offer to compact the conversation."""


def context_usage(manifest: Manifest, progress: Progress) -> dict[str, Any]:
    """Return the entry of the state, {} if it is not wanted, or if the window or the count is unknown.

    An estimate is never reported: texts alone say too little about files, tools and thoughts.
    """
    wanted = manifest.features.context_usage if manifest.features is not None else None
    fitter = progress.fitter
    if wanted is None or not wanted.enabled or fitter is None:
        return {}
    limit, tokens = fitter.window.size, fitter.counted_after(progress)
    if not limit or tokens is None:
        return {}
    percent = round(100 * tokens / limit, 1)
    return {
        KEY: {
            "percent": percent,
            "limit_tokens": limit,
            "compaction_recommended": percent >= RECOMMENDED_FROM,
            "source": SOURCE,
        }
    }
