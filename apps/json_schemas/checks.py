"""Validates JSON values against JSON Schemas from users and servers.

A schema can refer only to itself, so nothing is fetched from URLs or files. Schemas are limited in
size and depth, and each check has a time limit.
"""

from __future__ import annotations

import gc
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any

from jsonschema.exceptions import ValidationError
from referencing import Registry

from apps.json_schemas.keywords import (
    BUDGET,
    BoundedValidator,
    ValidationBudget,
    ValidationBudgetSpent,
)
from apps.json_schemas.structure import MOST_VALUES, StructureReader

CHECK_SECONDS = 0.2
"""The maximum CPU time of one check in seconds, because a check may run on the event loop. This
time is enough for about 10,000 values.
"""
MOST_VIOLATIONS = 100


class CheckUnfinished(Exception):
    """Raised if a check could not be completed, for example because it ran out of time. The message
    contains the reason.
    """


@dataclass(frozen=True, slots=True)
class SchemaCheck:
    """Validates values against one schema."""

    validator: Any

    @classmethod
    def of(cls, schema: Mapping[str, Any], most_values: int = MOST_VALUES) -> SchemaCheck:
        """Return a check against this schema. Raises `JsonSchemaInvalid` if the schema is
        invalid.
        """
        copied = StructureReader(most_values).read(schema)
        # With an empty registry, `jsonschema` cannot retrieve anything.
        return cls(BoundedValidator(copied, registry=Registry()))

    def violations(self, value: Any, seconds: float = CHECK_SECONDS) -> list[ValidationError]:
        """Return up to `MOST_VIOLATIONS` violations. Raises `CheckUnfinished` if the check could
        not be completed.
        """
        return self.first_violations(value, MOST_VIOLATIONS, seconds)

    def accepts(self, value: Any, seconds: float = CHECK_SECONDS) -> bool:
        """Return True if the value is valid. Raises `CheckUnfinished` if the check could not be
        completed.
        """
        return not self.first_violations(value, 1, seconds)

    def first_violations(self, value: Any, most: int, seconds: float) -> list[ValidationError]:
        collections = full_collections()
        try:
            return self.violations_within(seconds, value, most)
        except ValidationBudgetSpent:
            if full_collections() > collections:
                # A full collection can take longer than the time limit, so try once more.
                with suppress(ValidationBudgetSpent):
                    return self.violations_within(seconds, value, most)
        raise CheckUnfinished(f"the check takes longer than {seconds:g} seconds")

    def violations_within(self, seconds: float, value: Any, most: int) -> list[ValidationError]:
        token = BUDGET.set(ValidationBudget.of(seconds))
        try:
            return list(islice(self.validator.iter_errors(value), most))
        except RecursionError:
            raise CheckUnfinished("the value or the schema is nested too deeply") from None
        except (ArithmeticError, ValueError) as error:  # Numbers such as NaN and 1e400 cause it.
            raise CheckUnfinished(f"a number cannot be compared: {error}") from error
        finally:
            BUDGET.reset(token)


def full_collections() -> int:
    """Return the number of full garbage collections in this process so far."""
    return int(gc.get_stats()[-1]["collections"])
