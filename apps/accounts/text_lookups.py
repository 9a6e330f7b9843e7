"""Defines text lookups that return no rows for texts that PostgreSQL rejects.

PostgreSQL rejects a NUL in any text, even in a search. Requests may contain such texts in URLs,
forms and headers. Django treats integers that are too large in the same way.
"""

from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db.models import CharField, TextField, lookups


class TextOverflow:
    """A mixin that makes a Django lookup return no rows for a text with a NUL. It must precede
    Django's class in the list of bases.
    """

    rhs: Any

    def process_rhs(self, compiler: Any, connection: Any) -> Any:
        if isinstance(self.rhs, str) and "\0" in self.rhs:
            raise EmptyResultSet
        return super().process_rhs(compiler, connection)  # type: ignore[misc]


class TextIn(lookups.In):
    def process_rhs(self, compiler: Any, connection: Any) -> Any:
        if self.rhs_is_direct_value():
            texts: Any = self.rhs
            self.rhs = [one for one in texts if not (isinstance(one, str) and "\0" in one)]
        return super().process_rhs(compiler, connection)


COMPARISONS = (
    *(lookups.Exact, lookups.IExact, lookups.Contains, lookups.IContains, lookups.StartsWith),
    *(lookups.IStartsWith, lookups.EndsWith, lookups.IEndsWith),
)


def register_lookup() -> None:
    """Register this module's lookups for all text columns."""
    for field in (CharField, TextField):
        for lookup in COMPARISONS:
            field.register_lookup(type(f"Text{lookup.__name__}", (TextOverflow, lookup), {}))
        field.register_lookup(TextIn)
