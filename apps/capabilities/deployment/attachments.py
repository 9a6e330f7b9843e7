"""Files on their way to a deployment."""

from collections.abc import Sequence
from dataclasses import dataclass

from apps.agent.messages import Attachment
from apps.capabilities.deployment.parameters import FILES, QUERY
from apps.capabilities.wrappers.file_references import all_of, bare
from apps.errors import FileRefused, InvalidParameter
from apps.workspace.egress.fetch import shown
from apps.workspace.loading.files import Loaded, as_data
from apps.workspace.loading.loader import Loader, last_segment
from apps.workspace.loading.places import place_of
from apps.workspace.port import DeploymentInfo

MOST_FILES = 50
POSSIBLE = "Possible are paths of files (files/…), http(s) URLs and data: URIs."


@dataclass(frozen=True, slots=True)
class OutgoingFiles:
    """Turns addresses of files into attachments that one deployment can read."""

    info: DeploymentInfo
    loader: Loader
    query: str = QUERY

    async def attach_all(self, urls: Sequence[str]) -> tuple[Attachment, ...]:
        """In their order, all or none. Raises `InvalidParameter`."""
        if len(urls) > MOST_FILES:
            raise refusal(f"there are {len(urls)} files; at most {MOST_FILES} are possible.")
        return tuple(await all_of(map(self.attach, urls)))

    async def attach(self, url: str) -> Attachment:
        """Raises `InvalidParameter`."""
        if self.info.files == "none":
            raise refusal(
                f"the deployment {self.info.id!r} takes no files. Put what it has to know "
                f"into {self.query}."
            )
        try:
            address = bare(url.strip())
            kind = place_of(address).kind
            if kind == "unsupported":
                raise refusal(f"{shown(address)!r} is no file that can be sent. {POSSIBLE}")
            if kind == "external" and self.info.features.get("url_attachments"):
                # The deployment fetches the address itself.
                await self.loader.distrust(address)
                return Attachment("*/*", last_segment(address), url=address, reference_url=address)
            if self.info.files == "data":
                file = await self.load(address)
                return Attachment(file.type, file.name, data=as_data(file))
            if kind in {"external", "data"}:
                await self.load(address)  # a file of a refused type is not stored
            return await self.stored(address)
        except FileRefused as error:
            raise refusal(str(error)) from error

    async def stored(self, url: str) -> Attachment:
        """By its path in the caller's files, where it is stored if it is not. Raises `FileRefused`."""
        info = await self.loader.promote(url)
        title = last_segment(info.path)
        self.check_type(title, info.content_type)
        return Attachment(info.content_type, title, url=info.path)

    async def load(self, url: str) -> Loaded:
        """Raises `FileRefused`."""
        file = await self.loader.take(url)
        self.check_type(file.name, file.type)
        return file

    def check_type(self, title: str, content_type: str) -> None:
        if self.info.reads(content_type) is not False:
            return
        accepted = ", ".join(self.info.input_attachment_types)
        takes = f"takes files of the types {accepted}" if accepted else "cannot read it"
        raise refusal(
            f"the deployment {self.info.id!r} {takes}; {title!r} is of the type {content_type}."
        )


def refusal(problem: str) -> InvalidParameter:
    return InvalidParameter(FILES, problem)
