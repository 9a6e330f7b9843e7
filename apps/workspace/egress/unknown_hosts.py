"""Names of hosts that nobody knows, which people mistype."""

import socket

UNKNOWN = frozenset({socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)})


class HostUnknown(socket.gaierror):
    """The text is a sentence that names the host."""

    def __init__(self, host: str, error: OSError | UnicodeError) -> None:
        is_unknown = isinstance(error, UnicodeError) or error.errno in UNKNOWN
        self.text = (
            f"No machine is known by the name {host!r}."
            if is_unknown
            else f"The name {host!r} could not be looked up; try again later."
        )
        super().__init__(socket.EAI_NONAME, self.text)


def unknown_host(error: BaseException) -> str:
    """The sentence about an unknown host under a failed request, "" for another failure."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, HostUnknown):
            return seen.text
        seen = seen.__cause__ or seen.__context__
    return ""
