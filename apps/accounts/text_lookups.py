"""Lookups of texts that no row can have.

PostgreSQL refuses a NUL in any text, even in one that is only searched for. Requests bring them in
addresses, forms and headers, so such a lookup finds nothing, as one for an integer that is too large.
"""

from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db.models import CharField, TextField, lookups


class TextOverflow:
    """Comes before a lookup of Django."""

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


def register() -> None:
    """For every column of text."""
    for field in (CharField, TextField):
        for lookup in COMPARISONS:
            field.register_lookup(type(f"Text{lookup.__name__}", (TextOverflow, lookup), {}))
        field.register_lookup(TextIn)
