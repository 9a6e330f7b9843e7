"""What the model asks of the interpreter, read from arguments whose schema an operator may change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from apps.errors import InvalidParameter

MOST_CODE_CHARACTERS = 64_000
"""More than models write at once, and little enough to be read before it runs."""
MOST_FILES = 20
MOST_PAGE = 1_000_000_000


class DataSample(BaseModel):
    model_config = ConfigDict(extra="ignore")

    sample_data: bool = True
    page: int = Field(default=0, ge=0, le=MOST_PAGE)
    page_size: int = Field(default=3000, ge=1, le=MOST_PAGE)


class Request(BaseModel):
    """`open_session` forgets earlier calls."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    code: str = Field(max_length=MOST_CODE_CHARACTERS)
    title: str | None = None
    display_title: str | None = None
    attachment_urls: list[str] | None = Field(default=None, max_length=MOST_FILES)
    data_sample_config: DataSample | None = None
    open_session: bool | None = None

    @property
    def urls(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.attachment_urls or ()))

    @property
    def sample(self) -> DataSample | None:
        """None when the whole output is wanted."""
        sample = self.data_sample_config
        return sample if sample is not None and sample.sample_data else None


def read_request(arguments: Mapping[str, Any]) -> Request:
    """Raises `InvalidParameter`."""
    try:
        return Request.model_validate(dict(arguments))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise InvalidParameter(place, f"{first['msg']}.") from error
