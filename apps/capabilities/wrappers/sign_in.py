"""Makes tool calls wait until the user has signed in with their own account on the server.

The page shows a card. Its JSON contains `title`; `account`, the ID of the sign-in in
`apps.workspace.oauth`; `server`, the host that will be called with the account; and `host`, the
host of the sign-in page. The answer is `{"outcome": "connected" | "skipped" | "timeout"}`.
"""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlsplit

from apps.agent.ledger import InteractionRequest
from apps.agent.tools import Invocation, PendingResult, ToolResult
from apps.capabilities.registry import Opening, PreparedTool, announce_nothing
from apps.capabilities.wrappers.value_texts import one_line
from apps.errors import ToolError
from apps.workspace.oauth.accounts import RequiredAccount, access_token, ask_for, find_account
from apps.workspace.oauth.services import SignInService

TITLE_CHARACTERS = 100
ANSWERS = {
    "skipped": "The user did not want to connect {title}. Continue without it, and do not ask again.",
    "timeout": "The user did not connect {title} in time. Continue without it, and mention what you left out.",
    "connected": "{title} was connected, but it refuses the sign-in. Tell the user.",
}
NOBODY = (
    "Error: this tool needs the user's own account at {title}, but no user can sign in here. "
    "Tell the user that they can connect the account on the chat page of this server, where this "
    "application asks for it, and continue without it."
)


def with_sign_in(tool: PreparedTool, wanted: RequiredAccount) -> PreparedTool:
    """Return a tool whose calls wait until the user has signed in. A call's stage opens after the
    sign-in.
    """

    async def work(opening: Opening, invocation: Invocation) -> ToolResult:
        if await person_token(wanted, opening.caller.bucket):
            return await tool.work(opening, invocation)
        return await ask_person(wanted, opening, invocation)

    return replace(tool, work=work, announce=announce_nothing)


async def person_token(wanted: RequiredAccount, bucket: str, refused: str = "") -> str:
    """Return the user's token, or "" if the user has to sign in. Raises `ToolError` if the token
    cannot be renewed.

    `refused` is a token that the server has rejected.
    """
    account = await find_account(wanted, bucket)
    return await access_token(account.pk, refused) if account is not None else ""


async def ask_person(
    wanted: RequiredAccount, opening: Opening, invocation: Invocation
) -> ToolResult:
    """Ask the user to sign in. Return a failed result if the user does not or cannot sign in.
    Raises `ToolError` if the sign-in cannot be prepared.
    """
    title = one_line(wanted.title, TITLE_CHARACTERS)
    answered = invocation.answers.get("sign_in")
    if answered is not None:
        outcome = str((answered.answer or {}).get("outcome"))
        text = f"Error: {ANSWERS.get(outcome, ANSWERS['skipped']).format(title=title)}"
        return ToolResult(text, failure=ToolError(text))
    told = NOBODY.format(title=title)
    if not invocation.ledger.is_kept or opening.caller.kind not in {"user", "visitor"}:
        return ToolResult(told, failure=ToolError(told))
    account = await ask_for(wanted, opening.caller.bucket)
    card = {
        "title": f"Connect {title} to continue",
        "account": str(account.pk),
        "server": urlsplit(wanted.server).netloc,
        "host": SignInService.from_json(account.service).host,
    }
    asked = InteractionRequest("", "sign_in", card, wanted.how.seconds)
    return PendingResult(told, interactions=(asked,))
