"""Files are deleted, copied and moved, by those who keep them."""

from __future__ import annotations

from apps.agent.tools import ToolResult
from apps.capabilities.files.desk import Arguments, Desk, plain
from apps.capabilities.files.paths import check_file, check_own, whole
from apps.capabilities.files.writing import taken
from apps.errors import FileChanged, FileMissing, FileRefused, InvalidParameter


async def delete(desk: Desk, arguments: Arguments) -> ToolResult:
    path = arguments["path"]
    check_own("path", path)
    place = whole(await desk.home(), path)
    try:
        await desk.files.info(place)  # not everybody who keeps files tells that there was none
        await desk.files.delete(place)
    except FileRefused as error:
        raise InvalidParameter("path", str(error)) from error
    desk.forget(place)
    return plain(f"Deleted {path}.")


async def copy(desk: Desk, arguments: Arguments) -> ToolResult:
    check_file("source", arguments["source"])
    source, destination = await transfer(desk, arguments, is_move=False)
    return plain(f"Copied {source} to {destination}.")


async def move(desk: Desk, arguments: Arguments) -> ToolResult:
    check_own("source", arguments["source"])
    source, destination = await transfer(desk, arguments, is_move=True)
    return plain(f"Moved {source} to {destination}.")


async def transfer(desk: Desk, arguments: Arguments, *, is_move: bool) -> tuple[str, str]:
    """Both paths as they were given. Raises `InvalidParameter`."""
    source, destination = arguments["source"], arguments["destination"]
    check_own("destination", destination)
    home = await desk.home()
    origin, place = whole(home, source), whole(home, destination)
    if origin == place:
        raise InvalidParameter("destination", "it is the source itself.")
    work = desk.files.move if is_move else desk.files.copy
    try:
        await work(origin, place, overwrite=bool(arguments.get("overwrite")))
    except FileChanged as error:
        raise taken("destination", destination) from error
    except FileMissing as error:
        raise InvalidParameter("source", str(error)) from error
    except FileRefused as error:
        raise InvalidParameter("destination", str(error)) from error
    desk.forget(origin, place)
    return source, destination
