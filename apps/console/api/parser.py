from collections.abc import Mapping
from typing import IO, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

from apps.manifest.json_text import JSONTextInvalid, parse_json


class StrictJSONParser(JSONParser):
    """Parses JSON as strictly as the admin. For example, duplicate keys are rejected."""

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        try:
            return parse_json(stream.read().decode("utf-8"))
        except UnicodeDecodeError as error:
            raise ParseError(
                "The request body is not valid JSON. It is not UTF-8. Encode it as UTF-8."
            ) from error
        except JSONTextInvalid as error:
            problem = str(error)
            raise ParseError(
                f"The request body is not valid JSON. {problem[:1].upper()}{problem[1:]}"
            ) from error
