"""The document of a service, fetched from the address that an operator gives."""

from asgiref.sync import async_to_sync
from django.conf import settings

from apps.console.studio.tool_sources.source_texts import SourceInvalid
from apps.errors import EgressRefused, FetchRefused
from apps.workspace.egress.fetch import fetch
from apps.workspace.egress.fetch_policy import OperatorPolicy
from apps.workspace.egress.unknown_hosts import unknown_host

SECONDS = 20.0


def fetch_source(url: str) -> str:
    """Raises `SourceInvalid`."""
    if "://" not in url:
        raise SourceInvalid(f"The address has no scheme: write https://{url[:200]}")
    most = settings.OPENAPI_DOCUMENT_MB * 1_000_000
    try:
        found = async_to_sync(fetch)(url, OperatorPolicy(), most, seconds=SECONDS)
    except FetchRefused as error:
        # The guard knows what an operator can do about it.
        cause = error.__cause__
        told = unknown_host(error) or str(cause if isinstance(cause, EgressRefused) else error)
        raise SourceInvalid(told) from error
    return found.content.decode("utf-8-sig", "replace")
