"""Runs code that a user submits, with an application's interpreter and without a model."""

import asyncio
from collections.abc import Sequence

from django.utils.translation import gettext

from apps.agent.messages import ModelMessage
from apps.capabilities.interpreter.capability import (
    TOOL_NAME,
    choose_engine,
    find_tool,
    time_limit,
)
from apps.capabilities.interpreter.engines import Execution, ExecutionTimedOut
from apps.capabilities.interpreter.requests import InterpreterFailed, Request, attachment_urls
from apps.capabilities.registry import Opening
from apps.capabilities.wrappers.approval_rules import ApprovalRules, approval_rules
from apps.errors import Forbidden, Missing
from apps.manifest.manifest import Manifest


def can_run(manifest: Manifest) -> bool:
    """Return True if users can run code with the application's interpreter.

    Users cannot run code if every execution needs the approval of a second user.
    """
    rules = rules_for(manifest)
    return rules is not None and not (rules.mode == "confirm" and rules.nearest("four_eyes"))


def rules_for(manifest: Manifest) -> ApprovalRules | None:
    """Return the approval rules of the application's interpreter, or None if it has none."""
    found = find_tool(manifest)
    if found is None:
        return None
    toolset, tool = found
    return approval_rules(manifest, tool.approval, toolset.approval)


def check_code(manifest: Manifest, code: str) -> None:
    """Raise `Missing` if the application has no interpreter, and `Forbidden` if its approval rules
    forbid the code.

    If the rules require only the user's own approval, submitting the code counts as approval.
    """
    rules = rules_for(manifest)
    if rules is None:
        raise Missing("no_interpreter", gettext("This app can’t run code."))
    decision = rules.judge(TOOL_NAME, {"code": code})
    if decision == "deny":
        raise Forbidden("code_denied", gettext("This app’s rules don’t allow this code."))
    if decision == "confirm" and rules.nearest("four_eyes"):
        raise Forbidden(
            "code_denied",
            gettext("This app requires another user to approve code, so you can’t run code here."),
        )


async def run_user_code(
    manifest: Manifest, code: str, opening: Opening, messages: Sequence[ModelMessage] = ()
) -> Execution:
    """Run the code in a new interpreter session. The attachments of the messages are its input
    files.

    The caller must have checked the code. If it cannot be run or times out, `stderr` contains the
    reason.
    """
    seconds = time_limit(manifest)
    session = choose_engine(manifest).open(opening)
    request = Request(code=code, attachment_urls=list(attachment_urls(messages)))
    try:
        async with asyncio.timeout(seconds):
            return await session.execute(request, messages)
    except InterpreterFailed as failure:
        return Execution("FAILURE", stderr=str(failure))
    except TimeoutError:
        return Execution("FAILURE", stderr=str(ExecutionTimedOut(TOOL_NAME, seconds)))
