"""Which calls, of those that wait in the state of an answer, were answered."""

from datetime import UTC, datetime

from channels.db import database_sync_to_async
from django.utils import timezone

from apps.live.models import AnsweredCall


async def claim(id: str, due: float) -> bool:
    """Note that calls are answered that can be until `due`; False if they were before."""
    is_new: bool = await database_sync_to_async(claim_now)(id, due)
    return is_new


def claim_now(id: str, due: float) -> bool:
    expires_at = datetime.fromtimestamp(due, UTC)
    _, is_new = AnsweredCall.objects.get_or_create(pk=id, defaults={"expires_at": expires_at})
    return is_new


def delete_expired() -> int:
    """Delete the rows of calls that nobody can answer any more; the number of them."""
    return AnsweredCall.objects.filter(expires_at__lt=timezone.now()).delete()[0]
