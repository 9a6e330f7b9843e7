"""Checks of JSON values by JSON Schemas that users and servers write.

A schema refers to itself alone: nothing is fetched or read. Its size and depth are bounded when it
is read, and each check in the time it takes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from jsonschema.exceptions import ValidationError
from referencing import Registry

from apps.json_schemas.keywords import BUDGET, BoundedValidator, Budget, BudgetSpent
from apps.json_schemas.structure import MOST_VALUES, StructureReader

CHECK_SECONDS = 0.2
"""CPU time of one check, which may run on the event loop: 10,000 values take about as long."""
MOST_VIOLATIONS = 100


class CheckUnfinished(Exception):
    """A check that could not be completed; the message gives the reason."""


@dataclass(frozen=True, slots=True)
class SchemaCheck:
    """Checks values by one schema."""

    validator: Any

    @classmethod
    def of(cls, schema: Mapping[str, Any], most_values: int = MOST_VALUES) -> SchemaCheck:
        """Raises `JsonSchemaInvalid`."""
        copied = StructureReader(most_values).read(schema)
        # With an empty registry, `jsonschema` cannot retrieve anything.
        return cls(BoundedValidator(copied, registry=Registry()))

    def violations(self, value: Any, seconds: float = CHECK_SECONDS) -> list[ValidationError]:
        """Up to `MOST_VIOLATIONS`. Raises `CheckUnfinished`."""
        return self.first_violations(value, MOST_VIOLATIONS, seconds)

    def accepts(self, value: Any, seconds: float = CHECK_SECONDS) -> bool:
        """Raises `CheckUnfinished`."""
        return not self.first_violations(value, 1, seconds)

    def first_violations(self, value: Any, most: int, seconds: float) -> list[ValidationError]:
        token = BUDGET.set(Budget.of(seconds))
        try:
            return list(islice(self.validator.iter_errors(value), most))
        except BudgetSpent:
            raise CheckUnfinished(f"the check takes longer than {seconds:g} seconds") from None
        except RecursionError:
            raise CheckUnfinished("the value or the schema is nested too deeply") from None
        except (ArithmeticError, ValueError) as error:  # numbers such as NaN and 1e400
            raise CheckUnfinished(f"a number cannot be compared: {error}") from error
        finally:
            BUDGET.reset(token)
