"""Requests images from services through OpenAI's images API."""

import base64
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec
from django.conf import settings

from apps.agent.events import Usage
from apps.agent.surrogates import decode_json, replace_surrogates
from apps.errors import EgressRefused, ModelFailed
from apps.workspace.egress.fetch import FetchRefused, fetch
from apps.workspace.egress.fetch_policy import ServicePolicy
from apps.workspace.egress.sdk_clients import HTTPError, InvalidURL
from apps.workspace.egress.transport import ResponseTooLarge
from apps.workspace.openai.model import make_service
from apps.workspace.picture_model import Pictures, picture_type, unusable
from apps.workspace.services.client import ModelService
from apps.workspace.services.failures import (
    failure_in_stream,
    failure_of_break,
    failure_of_connection,
    is_filled,
)
from apps.workspace.services.model import CredentialMask

GENERATIONS = "images/generations"
MOST_BYTES = 64 * 1024 * 1024
"""The maximum size of a response in bytes: several images in base64."""
MOST_PICTURES = 10
FETCH_SECONDS = 60.0


class GeneratedPicture(msgspec.Struct):
    b64_json: str | None = None
    url: str | None = None


class ImageTokens(msgspec.Struct):
    input_tokens: int = 0
    output_tokens: int = 0


class ImagesAnswer(msgspec.Struct):
    data: list[GeneratedPicture] = []
    usage: ImageTokens | None = None
    error: Any = None


@dataclass(frozen=True, slots=True)
class ImageService:
    """A model on an image service."""

    service: ModelService
    name: str
    """The service's name for the model."""
    idle_seconds: float
    """The read timeout in seconds."""

    async def make(self, prompt: str, options: Mapping[str, Any]) -> Pictures:
        """Return the images that the service generates from the prompt. Raises `ModelFailed` if the
        service fails.
        """
        body = msgspec.json.encode({**options, "model": self.name, "prompt": prompt})
        with CredentialMask(self.service):
            answer = read_answer(await self.ask(body))
        contents = [await content_of(picture) for picture in answer.data[:MOST_PICTURES]]
        spent = answer.usage
        return Pictures(
            tuple((one, picture_type(one)) for one in contents),
            None if spent is None else Usage(spent.input_tokens, spent.output_tokens),
        )

    async def ask(self, body: bytes) -> bytes:
        """Send a request, and return the body of the response. Raises `ModelFailed` if the service
        fails.
        """
        try:
            answer = await self.service.ask(body, self.idle_seconds)
        except (HTTPError, InvalidURL, EgressRefused) as error:
            raise failure_of_connection(error) from error
        try:
            async with aclosing(answer.body):
                return await answer.read(MOST_BYTES)
        except HTTPError as error:
            raise failure_of_break(error) from error
        except ResponseTooLarge as error:
            raise unusable("a response that is too large") from error


def make_image_service(
    *, base_url: str, api_key: str, model: str, idle_seconds: float | None = None
) -> ImageService:
    """Return the image service for a model. `base_url` ends with the API's version; `idle_seconds`
    defaults to the tool timeout.
    """
    headers = {"Accept": "application/json"}
    return ImageService(
        make_service(base_url, api_key, GENERATIONS, headers=headers),
        model,
        idle_seconds or settings.DEFAULT_TOOL_TIMEOUT_SECONDS,
    )


def read_answer(data: bytes) -> ImagesAnswer:
    """Parse a response with images. Raises `ModelFailed` if it cannot be parsed, is an error or has
    no image.
    """
    try:
        answer: ImagesAnswer = decode_json(partial(msgspec.json.decode, type=ImagesAnswer), data)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise unusable("an unreadable response") from error
    if is_filled(answer.error):
        raise failure_in_stream(replace_surrogates(data))
    if not answer.data:
        raise unusable("a response without an image")
    return answer


async def content_of(picture: GeneratedPicture) -> bytes:
    """Return the content of an image. Download it if necessary. Raises `ModelFailed` if it cannot
    be downloaded or decoded.
    """
    if picture.b64_json:
        try:
            return base64.b64decode(picture.b64_json, validate=True)
        except ValueError as error:
            raise unusable("an image that is not valid base64") from error
    try:
        found = await fetch(picture.url or "", ServicePolicy(), MOST_BYTES, seconds=FETCH_SECONDS)
    except FetchRefused as error:
        raise ModelFailed(
            f"The image cannot be downloaded. {error}", reason="connection"
        ) from error
    return found.content
