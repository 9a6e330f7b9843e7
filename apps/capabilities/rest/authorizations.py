"""Adds credentials to REST tool requests. A credential overrides a parameter with the same name."""

from apps.accounts.caller import Caller
from apps.capabilities.rest.requests import RequestDraft
from apps.capabilities.wrappers.sign_in import person_token
from apps.errors import ToolError
from apps.manifest.toolsets.authorizations import (
    ApiKeyAuthorization,
    BasicAuthorization,
    BearerAuthorization,
    ClientIdSecretAuthorization,
    ForwardAuthTokenAuthorization,
    RestAuthorization,
    RestOAuthAuthorization,
)
from apps.workspace.egress.headers import basic, header_name_problem, header_value_problem
from apps.workspace.egress.oauth_tokens import find_tokens
from apps.workspace.local.secrets.stored_secrets import reveal
from apps.workspace.oauth.accounts import RequiredAccount


async def authorize(
    draft: RequestDraft,
    how: RestAuthorization | None,
    caller: Caller,
    url: str,
    refused_token: str = "",
) -> str:
    """Add the credentials for the URL to a request. Return the renewable token among them, or "".

    `refused_token` is a token that the service has rejected. Raises `ToolError` if credentials are
    unavailable.
    """
    match how:
        case BasicAuthorization():
            password = (await reveal(how.password, url)).text
            draft.headers["authorization"] = basic(how.username, password)
            draft.credentials |= {password, draft.headers["authorization"].partition(" ")[2]}
        case BearerAuthorization():
            bearer = (await reveal(how.token, url)).text
            draft.headers["authorization"] = f"Bearer {bearer}"
            draft.credentials.add(bearer)
        case ApiKeyAuthorization():
            key = (await reveal(how.key, url)).text
            add_key(draft, how, key)
            draft.credentials.add(key)
        case ForwardAuthTokenAuthorization():
            own = own_token(caller)
            draft.headers["authorization"] = f"Bearer {own}"
            draft.credentials.add(own)
        case ClientIdSecretAuthorization() | RestOAuthAuthorization():
            token = await renewable_token(how, caller, url, refused_token)
            if token:  # Otherwise, no user is signed in, and the service may reject the request.
                draft.headers["authorization"] = f"Bearer {token}"
                draft.credentials.add(token)
            return token
        case None:
            pass
    return ""


async def renewable_token(
    how: ClientIdSecretAuthorization | RestOAuthAuthorization,
    caller: Caller,
    url: str,
    refused: str,
) -> str:
    """Return a token that differs from `refused`. Raises `ToolError` if there is none."""
    if isinstance(how, ClientIdSecretAuthorization):
        return await find_tokens(how).current(url, refused)
    return await person_token(RequiredAccount(url, "", how), caller.bucket, refused)


def own_token(caller: Caller) -> str:
    if not caller.credentials.bearer or header_value_problem(caller.credentials.bearer):
        raise ToolError(
            "This tool uses the caller's own sign-in, but the request has no bearer token. "
            "Sign in, or send an Authorization header."
        )
    return caller.credentials.bearer


def add_key(draft: RequestDraft, how: ApiKeyAuthorization, key: str) -> None:
    match how.location:
        case "header":
            draft.headers[how.name.lower()] = key
        case "query":
            draft.query[how.name] = key
        case _:
            draft.body[how.name] = key


def authorization_problem(how: RestAuthorization | None) -> str:
    """Return the reason why the credentials cannot be sent, without quoting them, or ""."""
    if isinstance(how, BearerAuthorization):
        return header_value_problem(how.token.text)
    if isinstance(how, ApiKeyAuthorization) and how.location == "header":
        return header_name_problem(how.name) or header_value_problem(how.key.text)
    return ""
