"""One request to Core, and its caller."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from starlette.requests import Request

from tests.dial_core.keys import Caller
from tests.dial_core.refusals import Refusal

if TYPE_CHECKING:
    from tests.dial_core.core import Core


@dataclass
class Exchange:
    core: Core
    request: Request
    body: bytes

    @cached_property
    def caller(self) -> Caller:
        """Return the caller. Raises `Refusal` for invalid credentials."""
        return self.core.keys.caller(self.headers)

    @property
    def headers(self) -> dict[str, str]:
        """Return the headers by lower-case name."""
        return dict(self.request.headers.items())

    def json(self) -> dict[str, Any]:
        """Return the body. Raises `Refusal` unless it is a JSON object."""
        try:
            document = json.loads(self.body)
        except ValueError:
            raise Refusal(400, "Failed to parse request body") from None
        if not isinstance(document, dict):
            raise Refusal(400, "Failed to parse request body")
        return document

    def flag(self, name: str) -> bool:
        return self.request.query_params.get(name, "false") == "true"
