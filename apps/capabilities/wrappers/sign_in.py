"""Tools whose server is called with the account of the person who asks.

Where the person has not signed in, the call waits until they have. The card gets this JSON:
`title`; `account`, the id under which `apps.workspace.oauth` knows the sign-in; `server`, the host
that will be called with the account; `host`, that of the page on which people sign in.

The answer is `{"outcome": "connected" | "skipped" | "timeout"}`.
"""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlsplit

from apps.agent.ledger import Interaction
from apps.agent.tools import Invocation, Pending, ToolResult
from apps.capabilities.registry import Opening
from apps.capabilities.wrappers.prepared import PreparedTool, unannounced
from apps.capabilities.wrappers.texts import one_line
from apps.errors import ToolError
from apps.workspace.oauth.accounts import WantedAccount, access_token, ask_for, find_account
from apps.workspace.oauth.services import SignInService

TITLE_CHARACTERS = 100
ANSWERS = {
    "skipped": "The person did not want to connect {title}. Go on without it, and do not ask again.",
    "timeout": "Nobody connected {title} in time. Go on without it, and say what was left out.",
    "connected": "{title} was connected, but it does not take that sign-in. Say so.",
}
NOBODY = (
    "Error: this tool needs the person's own account at {title}, and nobody can be asked to sign in "
    "here. Tell them that they can connect it on the chat page of this server, where this "
    "application asks for it, and go on without it."
)


def with_sign_in(tool: PreparedTool, wanted: WantedAccount) -> PreparedTool:
    """Make only calls of people who are signed in. The stage of a call opens after that."""

    async def work(opening: Opening, invocation: Invocation) -> ToolResult:
        if await person_token(wanted, opening.caller.bucket):
            return await tool.work(opening, invocation)
        return await ask_person(wanted, opening, invocation)

    return replace(tool, work=work, announce=unannounced)


async def person_token(wanted: WantedAccount, bucket: str, refused: str = "") -> str:
    """A token of the person's, "" if they have to sign in. Raises `ToolError`."""
    account = await find_account(wanted, bucket)
    return await access_token(account.pk, refused) if account is not None else ""


async def ask_person(wanted: WantedAccount, opening: Opening, invocation: Invocation) -> ToolResult:
    """Wait for a sign-in, or tell the model why there is none. Raises `ToolError`."""
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
    asked = Interaction("", "sign_in", card, wanted.how.seconds)
    return Pending(told, interactions=(asked,))
