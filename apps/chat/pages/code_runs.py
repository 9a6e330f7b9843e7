"""Runs Python code from an answer on behalf of the conversation's owner. Neither the code nor its
output is stored.
"""

import base64
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from channels.db import database_sync_to_async
from django.http import Http404, HttpRequest, JsonResponse
from django.utils.formats import number_format
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from apps.accounts import audit
from apps.accounts.audit import AuditEvent
from apps.accounts.caller import Caller
from apps.agent.messages import Attachment, ModelMessage
from apps.agent.stages import silent
from apps.capabilities.interpreter.capability import TOOL_NAME
from apps.capabilities.interpreter.engines import Execution
from apps.capabilities.interpreter.requests import MOST_CODE_CHARACTERS, MOST_FILES, url_file_name
from apps.capabilities.interpreter.user_code import check_code, run_user_code
from apps.capabilities.registry import Opening
from apps.catalog.resolved_application import ResolvedApplication
from apps.chat.file_views import problem
from apps.chat.visitors import conversation_of, visitor
from apps.conversations.access import check_continuable
from apps.conversations.branches import path
from apps.conversations.models import Conversation
from apps.conversations.pinned_versions import find_for
from apps.doors.run_slots import hold_caller_slot
from apps.errors import QuickAppError, Refused, TooLarge, TooOften
from apps.live.hub import HUB
from apps.live.limits.quotas import admit_request, rates_of
from apps.process_state import on_reset
from apps.runs.explanations import error_text
from apps.runs.workspaces import open_workspace
from apps.workspace.loading.shared_loads import Loading, rules_of

MOST_OUTPUT_CHARACTERS = 100_000
MOST_SHOWN_BYTES = 8 * 1024 * 1024
"""The maximum total size of the output files in one response. The remaining files are only listed
by name.
"""
running: set[str] = set()
"""The users whose code is running in this process. Each user can run one code block at a time."""
on_reset(running.clear)


@require_POST
async def run_code(request: HttpRequest, slug: str, conversation: UUID) -> JsonResponse:
    """Run the code in the form field `code`, and return its output and files as JSON. The code is
    stopped if the client disconnects.
    """
    code = request.POST.get("code", "")
    try:
        caller = await database_sync_to_async(find_owner)(request, slug, conversation)
        check_length(code)
        application = await find_for(slug, caller, conversation)
        check_code(application.manifest, code)
        await admit_request(rates_of(caller, application))
        execution = await run(caller, application, conversation, code)
    except Http404:
        return problem("conversation_not_found", gettext("This conversation does not exist."), 404)
    except QuickAppError as error:
        return problem(error.code, error_text(error), error.http_status)
    return JsonResponse(describe_execution(execution), headers={"Cache-Control": "no-store"})


def find_owner(request: HttpRequest, slug: str, conversation: UUID) -> Caller:
    """Return the visitor as a caller. Raises Http404 if the conversation is not the visitor's own,
    and `Refused` if it cannot be continued.
    """
    caller = visitor(request)
    conversation_of(caller, slug, conversation)
    check_continuable(caller, conversation, slug)
    return caller


def check_length(code: str) -> None:
    if not code.strip():
        raise Refused("empty_code", gettext("There is no code to run."))
    if len(code) > MOST_CODE_CHARACTERS:
        raise TooLarge(
            "too_long",
            gettext("The code has {count} characters; the limit is {limit}.").format(
                count=number_format(len(code), force_grouping=True),
                limit=number_format(MOST_CODE_CHARACTERS, force_grouping=True),
            ),
        )


async def run(
    caller: Caller, application: ResolvedApplication, conversation: UUID, code: str
) -> Execution:
    if caller.bucket in running:
        raise TooOften(
            "code_running",
            gettext(
                "Other code that you started is still running. Stop it, or wait for it to finish."
            ),
        )
    running.add(caller.bucket)
    try:
        async with hold_caller_slot(HUB.slots, caller, application.slug):
            messages = await database_sync_to_async(prepare)(
                caller, application.slug, conversation, code
            )
            opening = Opening(
                open_workspace(caller, application).inside(application.slug),
                caller,
                silent,
                application=application.slug,
                loading=Loading(rules_of(application.manifest)),
            )
            return await run_user_code(application.manifest, code, opening, messages)
    finally:
        running.discard(caller.bucket)


def prepare(caller: Caller, slug: str, conversation: UUID, code: str) -> list[ModelMessage]:
    """Write an audit event about the code run. If names of the conversation's files occur in the
    code, return a message with these files as attachments, else [].
    """
    audit.record(
        AuditEvent(
            "tool.executed",
            caller.bucket,
            caller.client.address,
            slug,
            conversation,
            subject=TOOL_NAME,
        )
    )
    found = Conversation.objects.get(pk=conversation)
    files = tuple(named_files(found, code))
    return [ModelMessage("user", attachments=files)] if files else []


def named_files(conversation: Conversation, code: str) -> Iterator[Attachment]:
    """Yield the attachments whose file names occur in the code. If several attachments have the
    same name, only the newest is included.
    """
    names: set[str] = set()
    for message in reversed(path(conversation)):
        for one in message.attachments:
            url = one.get("url") or ""
            name = url_file_name(url)
            if name and name in code and name not in names and len(names) < MOST_FILES:
                names.add(name)
                yield Attachment(one.get("type") or "", one.get("title") or name, url=url)


def describe_execution(execution: Execution) -> dict[str, Any]:
    files: list[dict[str, str]] = []
    left_out: list[str] = []
    room = MOST_SHOWN_BYTES
    for number, file in enumerate(execution.produced, 1):
        name = file.name or gettext("Output {number}").format(number=number)
        if len(file.content) > room:
            left_out.append(name)
            continue
        room -= len(file.content)
        content = base64.b64encode(file.content).decode()
        files.append({"name": name, "type": file.type, "content": content})
    return {
        "is_successful": execution.status == "SUCCESS",
        "result": execution.result[:MOST_OUTPUT_CHARACTERS],
        "stdout": execution.stdout[:MOST_OUTPUT_CHARACTERS],
        "stderr": execution.stderr[-MOST_OUTPUT_CHARACTERS:],
        "notes": [*execution.notes] if execution.status == "SUCCESS" else [],
        "files": files,
        "left_out": left_out,
    }
