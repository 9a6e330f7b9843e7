"""Who is told that runs ended or wait for somebody, in the transaction that writes it.

`settings.RUN_LISTENERS` names functions that take a sequence of `RunNews`. They are called on a
database thread for all runs of a transaction at once, and do not ask the database where nobody
wants to be told. What they write stands in a savepoint, so that a refusal does not undo the ending.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from uuid import UUID

from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.utils.module_loading import import_string

from apps.live.models import Run

logger = logging.getLogger(__name__)

NEWS = frozenset({Run.Status.DONE, Run.Status.FAILED, Run.Status.WAITING})


@dataclass(frozen=True, slots=True)
class RunNews:
    """`status` is one of `NEWS`. `application` is a slug, or the path of DIAL Core."""

    run: UUID
    door: str
    application: str
    bucket: str
    status: str


Listen = Callable[[Sequence[RunNews]], None]


def tell(news: Iterable[RunNews]) -> None:
    told = [one for one in news if one.status in NEWS]
    if not told:
        return
    for name in settings.RUN_LISTENERS:
        try:
            listener(name)(told)
        except (OperationalError, InterfaceError):
            raise  # all of the transaction is repeated
        except Exception:
            logger.exception("%s could not be told of runs", name)


@cache
def listener(name: str) -> Listen:
    found: Listen = import_string(name)
    return found


def tell_waiting(run: UUID) -> None:
    row = Run.objects.filter(pk=run).values_list("door", "application", "bucket").first()
    if row is not None:
        tell([RunNews(run, *row, Run.Status.WAITING)])
