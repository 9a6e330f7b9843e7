"""Checks the structured results of a tool against the schema that its server declares."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import mcp_types as types

from apps.capabilities.wrappers.value_texts import one_line
from apps.json_schemas.checks import CheckUnfinished, SchemaCheck
from apps.json_schemas.structure import JsonSchemaInvalid

logger = logging.getLogger(__name__)

PROBLEM_CHARACTERS = 300


@dataclass(frozen=True)
class OutputSchema:
    """The declared schema of a tool's results."""

    tool: str
    """The tool's name, for the log."""
    schema: Mapping[str, Any] | None
    """The schema, or None if the server declares none."""

    @cached_property
    def check(self) -> SchemaCheck | None:
        """Return the compiled schema, or None if there is no usable schema.

        The schema is compiled on first use, because most tools of a server are never called.
        """
        if self.schema is None:
            return None
        try:
            return SchemaCheck.of(self.schema)
        except JsonSchemaInvalid as error:
            self.log("are not checked by its outputSchema", str(error))
            return None

    def report(self, result: types.CallToolResult) -> None:
        """Log a warning if a result does not match the schema. The model receives the result
        anyway, because it may be useful.
        """
        if result.is_error or self.check is None:
            return
        try:
            violations = self.check.violations(result.structured_content)
        except CheckUnfinished as error:
            self.log("are not checked by its outputSchema", str(error))
            return
        if violations:
            first = violations[0]
            self.log("do not match its outputSchema", f"{first.json_path}: {first.message}")

    def log(self, what: str, why: str) -> None:
        logger.warning("Results of %s %s: %s", self.tool, what, one_line(why, PROBLEM_CHARACTERS))
