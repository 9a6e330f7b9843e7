"""Files on their way to a deployment."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from apps.agent.messages import Attachment
from apps.capabilities.deployment.parameters import FILES, QUERY
from apps.capabilities.wrappers.attachments import matches
from apps.capabilities.wrappers.file_references import bare
from apps.errors import FileRefused, InvalidParameter
from apps.workspace.egress.fetch_names import shown
from apps.workspace.loading.files import Loaded, as_data
from apps.workspace.loading.loader import Loader, last_segment
from apps.workspace.loading.places import place_of
from apps.workspace.port import DeploymentInfo

MOST_FILES = 50
POSSIBLE = "Possible are paths of files (files/…), http(s) URLs and data: URIs."


@dataclass(frozen=True, slots=True)
class Dispatch:
    """How files reach one deployment."""

    info: DeploymentInfo
    loader: Loader

    async def attach_all(self, urls: Sequence[str]) -> tuple[Attachment, ...]:
        """In their order. One that fails fails all, once the others are done.

        Raises `InvalidParameter`.
        """
        if len(urls) > MOST_FILES:
            raise refusal(f"there are {len(urls)} files; at most {MOST_FILES} are possible.")
        outcomes = await asyncio.gather(*map(self.attach, urls), return_exceptions=True)
        for outcome in outcomes:
            if isinstance(outcome, BaseException):
                raise outcome
        return tuple(item for item in outcomes if isinstance(item, Attachment))

    async def attach(self, url: str) -> Attachment:
        """Raises `InvalidParameter`."""
        if self.info.files == "none":
            raise refusal(
                f"the deployment {self.info.id!r} takes no files. Put what it has to know "
                f"into {QUERY}."
            )
        try:
            address = bare(url.strip())
            match place_of(address).kind:
                case "external" if self.info.features.get("url_attachments"):
                    return refer(address)
                case "unsupported":
                    raise refusal(f"{shown(address)!r} is no file that can be sent. {POSSIBLE}")
                case _ if self.info.files == "data":
                    return await self.include(address)
                case "external" | "data":
                    await self.take(address)  # what is not taken is not kept
                    return await self.name(address)
                case _:
                    return await self.name(address)
        except FileRefused as error:
            raise refusal(str(error)) from error

    async def name(self, url: str) -> Attachment:
        """By the path of the caller's file, which is made if there is none. Raises `FileRefused`."""
        info = await self.loader.promote(url)
        title = last_segment(info.path)
        self.check_type(title, info.content_type)
        return Attachment(info.content_type, title, url=info.path)

    async def include(self, url: str) -> Attachment:
        """With all that is in it. Raises `FileRefused`."""
        file = await self.take(url)
        return Attachment(file.type, file.name, data=as_data(file))

    async def take(self, url: str) -> Loaded:
        file = await self.loader.take(url)
        self.check_type(file.name, file.type)
        return file

    def check_type(self, title: str, content_type: str) -> None:
        accepted = self.info.input_attachment_types
        if accepted and not matches(content_type, accepted):
            raise refusal(
                f"the deployment {self.info.id!r} takes files of the types {', '.join(accepted)}; "
                f"{title!r} is of the type {content_type}."
            )


def refer(url: str) -> Attachment:
    """An address that the deployment fetches itself."""
    return Attachment("*/*", last_segment(url), url=url, reference_url=url)


def refusal(problem: str) -> InvalidParameter:
    return InvalidParameter(FILES, problem)
