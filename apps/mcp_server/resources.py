"""Offers the caller's files as MCP resources."""

from typing import Any

import mcp_types as types
from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPError

from apps.doors.bodies import shorten_text
from apps.errors import FileMissing, FileRefused
from apps.mcp_server.content import file_contents
from apps.mcp_server.requests import AdmittedRequest, admitted
from apps.mcp_server.resource_uris import TEMPLATE, path_of, uri_of
from apps.workspace.stored_files import FileInfo, Files

PAGE_SIZE = 200
MOST_COMPLETIONS = 100
"""The maximum number of completions in a response, according to the protocol."""
LARGEST_RESOURCE = 10 * 1024 * 1024
"""The maximum size in bytes of a file that a message contains."""


def files_of(request: AdmittedRequest) -> Files:
    return request.open_workspace(request.caller, request.application).files


async def list_resources(
    context: ServerRequestContext[Any, Any], params: types.PaginatedRequestParams | None
) -> types.ListResourcesResult:
    """Return a page of the caller's files. Clients can also read other files, such as those in
    answers.
    """
    request = admitted(context)
    if not request.caller.bucket:
        return types.ListResourcesResult(resources=[])  # Visitors own no files.
    after = path_of((params.cursor if params is not None else None) or "")
    found = [file for path, file in (await paths_of(request)).items() if path > after]
    page = found[:PAGE_SIZE]
    rest = uri_of(page[-1].path) if len(found) > PAGE_SIZE else None
    return types.ListResourcesResult(resources=[*map(describe_file, page)], next_cursor=rest)


async def paths_of(request: AdmittedRequest) -> dict[str, FileInfo]:
    """Return the caller's files by path, sorted by path."""
    files = files_of(request)
    try:
        listed = await files.list(await files.home(), is_deep=True)
    except FileMissing:
        listed = ()  # The caller has not stored a file yet.
    found = {one.path: one for one in listed if isinstance(one, FileInfo)}
    return dict(sorted(found.items()))


def describe_file(file: FileInfo) -> types.Resource:
    return types.Resource(
        uri=uri_of(file.path),
        name=file.path.rpartition("/")[2],
        mime_type=file.content_type,
        size=file.size,
    )


async def list_templates(
    context: ServerRequestContext[Any, Any], params: types.PaginatedRequestParams | None
) -> types.ListResourceTemplatesResult:
    template = types.ResourceTemplate(
        uri_template=TEMPLATE,
        name="file",
        title="File",
        description="One of your files, or a file of an application that you can use.",
    )
    return types.ListResourceTemplatesResult(resource_templates=[template])


async def complete(
    context: ServerRequestContext[Any, Any], params: types.CompleteRequestParams
) -> types.CompleteResult:
    """Complete the bucket or name in a file's URI. Prompt arguments have no completions."""
    request, argument = admitted(context), params.argument
    values: list[str] = []
    if isinstance(params.ref, types.ResourceTemplateReference) and request.caller.bucket:
        values = [request.caller.bucket]
        if argument.name == "name":
            values = [path.split("/", 2)[2] for path in await paths_of(request)]
    found = [value for value in values if value.startswith(argument.value)]
    page = found[:MOST_COMPLETIONS]
    completion = types.Completion(values=page, total=len(found), has_more=len(page) < len(found))
    return types.CompleteResult(completion=completion)


async def read_resource(
    context: ServerRequestContext[Any, Any], params: types.ReadResourceRequestParams
) -> types.ReadResourceResult:
    """Return the content of a file. Raises `MCPError` if the caller cannot read it or it is too
    large.
    """
    uri = str(params.uri)
    path = path_of(uri)
    if not path:
        raise unknown_resource(uri)
    try:
        found = await files_of(admitted(context)).read(path, limit=LARGEST_RESOURCE)
    except FileRefused as error:
        if error.http_status == 404:
            raise unknown_resource(uri) from None
        raise MCPError(types.INVALID_PARAMS, str(error), {"uri": uri}) from None
    return types.ReadResourceResult(contents=[file_contents(uri, found)])


def unknown_resource(uri: str) -> MCPError:
    return MCPError(types.INVALID_PARAMS, f"Unknown resource: '{shorten_text(uri)}'.", {"uri": uri})
