"""The document of a service, fetched from the address that an operator gives."""

from asgiref.sync import async_to_sync

from apps.console.studio.tool_sources.source_texts import SourceInvalid
from apps.errors import EgressRefused, FetchRefused
from apps.workspace.egress.fetch import fetch
from apps.workspace.egress.fetch_policy import OperatorPolicy

MOST_BYTES = 8_000_000
SECONDS = 20.0


def fetch_source(url: str) -> str:
    """Raises `SourceInvalid`."""
    try:
        found = async_to_sync(fetch)(url, OperatorPolicy(), MOST_BYTES, seconds=SECONDS)
    except FetchRefused as error:
        # The guard knows what an operator can do about it.
        cause = error.__cause__
        raise SourceInvalid(str(cause if isinstance(cause, EgressRefused) else error)) from error
    return found.content.decode("utf-8-sig", "replace")
