"""Defines the base class for database models whose rows have a version. Each save increases the
version. Caches and concurrent editors compare versions.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from django.db import models, router, transaction
from django.db.models import F

Watch = Callable[[Any], AbstractContextManager[None]]
"""A function that returns a context manager in which a row is saved."""
watches: dict[type[models.Model], Watch] = {}
"""Maps each model to the function whose context manager surrounds every save. Packages that depend
on this one register their functions at startup.
"""


def watch_versions(row: models.Model) -> AbstractContextManager[None]:
    watch = watches.get(type(row))
    return nullcontext() if watch is None else watch(row)


class VersionedRow(models.Model):
    """A row with a version. The database increases `version`, so concurrent saves result in
    different versions.

    Each save runs in a transaction, together with the context managers in `watches`. They can
    therefore record a change in the same transaction as the change itself.
    """

    version = models.PositiveIntegerField(default=0, editable=False)

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        is_new, before = self._state.adding, self.version
        self.version = before + 1 if is_new else F("version") + 1
        if kwargs.get("update_fields") is not None:
            kwargs["update_fields"] = {*kwargs["update_fields"], "version"}
        database = kwargs.get("using") or router.db_for_write(type(self), instance=self)
        try:
            with transaction.atomic(database), watch_versions(self):
                super().save(*args, **kwargs)
        except BaseException:
            self.version = before
            raise
        if not is_new:
            self.refresh_from_db(kwargs.get("using"), fields=("version",))
