"""Rows with a version that each save increases, for caches and concurrent editors to compare."""

from typing import Any

from django.db import models, router, transaction
from django.db.models import F


class Versioned(models.Model):
    """`version` grows in the database, so concurrent saves give two versions.

    A save is a transaction: records of a change are written together with it or not at all.
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
            with transaction.atomic(database):
                super().save(*args, **kwargs)
        except BaseException:
            self.version = before
            raise
        if not is_new:
            self.refresh_from_db(kwargs.get("using"), fields=("version",))
