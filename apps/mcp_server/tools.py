"""Lists applications as MCP tools."""

import hashlib
import re
from typing import Any

import mcp_types as types
from django.core.validators import slug_re
from django.db.models import F
from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPError

from apps.catalog.access import usable
from apps.catalog.models import Application
from apps.catalog.registration import INPUT_TYPES
from apps.catalog.resolve import versioned_name
from apps.catalog.resolved_application import ResolvedApplication
from apps.doors.bodies import shorten_text
from apps.errors import ApplicationNotFound, NotAuthenticated
from apps.manifest.manifest import LONGEST_QUESTION
from apps.mcp_server.requests import AdmittedRequest, admitted

PAGE_SIZE = 100
MOST_FILES = 20
LONGEST_TOOL_NAME = 64
"""The maximum length of a tool's name in characters, as required by the strictest models."""
_tool_name = re.compile(rf"[A-Za-z0-9_-]{{1,{LONGEST_TOOL_NAME}}}")
_unsafe = re.compile(r"[^A-Za-z0-9_-]")

OUTPUT_SCHEMA = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "description": "The answer, as Markdown."},
        "finish_reason": {
            "type": "string",
            "description": "`stop`, or `length` if the answer was cut off.",
        },
        "usage": {
            "type": "object",
            "properties": {
                "input_tokens": {"type": "integer"},
                "output_tokens": {"type": "integer"},
            },
            "required": ["input_tokens", "output_tokens"],
        },
    },
    "required": ["text", "finish_reason", "usage"],
}


def tool_name(application: str) -> str:
    """Return the name of an application's tool: its slug, or a name with a hash if the slug is not
    valid.
    """
    if _tool_name.fullmatch(application):
        return application
    digest = hashlib.sha256(application.encode()).hexdigest()[:8]
    return f"{_unsafe.sub('_', application)[: LONGEST_TOOL_NAME - len(digest) - 1]}_{digest}"


def input_schema(attachment_types: tuple[str, ...]) -> dict[str, Any]:
    """Return the JSON Schema of a tool's arguments. An empty `attachment_types` allows files of any
    type.
    """
    allowed = f" Allowed types: {', '.join(attachment_types)}." if attachment_types else ""
    file = {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "type": {"type": "string", "description": "MIME type, such as application/pdf."},
            "data": {"type": "string", "description": "The content in base64."},
            "uri": {
                "type": "string",
                "description": "The URI of a resource of this server, or a web URL.",
            },
        },
        "required": ["type"],
    }
    return {
        "type": "object",
        "properties": {
            "message": {
                "type": "string",
                "description": "The message to the application, with everything that it has to "
                "know: each call starts a new conversation.",
                "minLength": 1,
                "maxLength": LONGEST_QUESTION,
            },
            "files": {
                "type": "array",
                "description": f"Files for the application, each with `data` or `uri`.{allowed}",
                "items": file,
                "maxItems": MOST_FILES,
            },
        },
        "required": ["message"],
    }


def describe_tool(
    name: str, title: str, description: str, attachment_types: tuple[str, ...]
) -> types.Tool:
    return types.Tool(
        name=tool_name(name),
        title=title,
        description=description or title,
        input_schema=input_schema(attachment_types),
        output_schema=OUTPUT_SCHEMA,
        annotations=types.ToolAnnotations(title=title, open_world_hint=True),
    )


async def list_tools(
    context: ServerRequestContext[Any, Any], params: types.PaginatedRequestParams | None
) -> types.ListToolsResult:
    request = admitted(context)
    if request.application is not None:
        return types.ListToolsResult(tools=[describe_resolved(request.application)])
    page, cursor = await application_page(request, params, PAGE_SIZE)
    tools = [
        describe_tool(row.slug, row.title, row.description, types_of(row.attachment_types))
        for row in page
    ]
    return types.ListToolsResult(tools=tools, next_cursor=cursor)


def describe_resolved(application: ResolvedApplication) -> types.Tool:
    return describe_tool(
        application.slug,
        application.title,
        application.description,
        application.manifest.input_attachment_types,
    )


def types_of(written: Any) -> tuple[str, ...]:
    listed = written if isinstance(written, list) else ()
    return tuple(one for one in listed if isinstance(one, str))


async def application_page(
    request: AdmittedRequest, params: types.PaginatedRequestParams | None, size: int
) -> tuple[list[Any], str | None]:
    """Return a page of the caller's applications, sorted by slug, and the cursor for the next page,
    or None if there are no more pages. Raises `MCPError` if the cursor is invalid.
    """
    rows = usable(request.caller).defer("manifest").order_by("slug")
    cursor = params.cursor if params is not None else None
    if cursor is not None:
        if not slug_re.match(cursor):
            raise MCPError(types.INVALID_PARAMS, f"Unknown cursor: '{shorten_text(cursor)}'.")
        rows = rows.filter(slug__gt=cursor)
    rows = rows.annotate(attachment_types=F(f"manifest__{INPUT_TYPES}"))
    found: list[Application] = [row async for row in rows[: size + 1]]
    page = found[:size]
    return page, page[-1].slug if len(found) > size else None


async def find_tool(request: AdmittedRequest, name: str) -> ResolvedApplication:
    """Return the application of the tool with this name. A name such as `slug@3` selects a version.

    Raises `MCPError` if the caller has no such tool, or `ApplicationBroken` if its manifest is
    invalid.
    """
    if (only := request.application) is not None:
        if name in (only.slug, tool_name(only.slug)):
            return only
        raise unknown_tool(name)
    if not slug_re.match(versioned_name(name)[0]):
        raise unknown_tool(name)
    try:
        return await request.admission.find(name)
    except (ApplicationNotFound, NotAuthenticated):
        raise unknown_tool(name) from None


def unknown_tool(name: str) -> MCPError:
    return MCPError(types.INVALID_PARAMS, f"Unknown tool: '{shorten_text(name)}'.")
