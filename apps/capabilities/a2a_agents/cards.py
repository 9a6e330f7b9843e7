"""Loads and caches agent cards. An A2A agent's card describes its skills, URLs and protocols."""

import asyncio
import hashlib
import json
from dataclasses import dataclass
from functools import partial
from typing import Literal
from urllib.parse import urlsplit

import msgspec
from django.conf import settings

from apps.accounts.caller import Caller
from apps.capabilities.remote_agents.servers import AgentServer, called, send
from apps.capabilities.rest.requests import RequestDraft
from apps.capabilities.wrappers.value_texts import one_line
from apps.errors import ToolError
from apps.manifest.servers import origin_of
from apps.process_state import AgedCache
from apps.workspace.egress.bodies import read_body
from apps.workspace.egress.guard import Trust

WELL_KNOWN = "/.well-known/agent-card.json"
PROTOCOL_VERSION = "1.0"
MOST_CARD_BYTES = 256 * 1024
CARD_SECONDS = 10.0
"""The timeout in seconds for loading an agent card. It is short because a run may wait for the
card.
"""
MAX_AGE_SECONDS = 300.0
FAILURE_SECONDS = 15.0
"""A failed load is cached for this many seconds before the card is requested again."""
MOST_SKILLS = 50

Binding = Literal["JSONRPC", "HTTP+JSON"]
BINDINGS: tuple[Binding, ...] = ("JSONRPC", "HTTP+JSON")


class Interface(msgspec.Struct, frozen=True, rename="camel"):
    url: str = ""
    protocol_binding: str = ""
    protocol_version: str = ""
    tenant: str | None = None


class Extension(msgspec.Struct, frozen=True):
    uri: str = ""
    required: bool | None = None


class AgentCapabilities(msgspec.Struct, frozen=True):
    streaming: bool | None = None
    extensions: list[Extension] | None = None


class CardSkill(msgspec.Struct, frozen=True, rename="camel"):
    name: str = ""
    description: str = ""
    input_modes: list[str] | None = None


class AgentCard(msgspec.Struct, frozen=True, rename="camel"):
    """The fields of an agent card that QuickApps reads."""

    name: str
    description: str = ""
    supported_interfaces: list[Interface] | None = None
    protocol_version: str | None = None
    """The protocol version. Only cards of version 0.3 and older contain it."""
    capabilities: AgentCapabilities | None = None
    default_input_modes: list[str] | None = None
    skills: list[CardSkill] | None = None

    @property
    def is_streaming(self) -> bool:
        return self.capabilities is not None and bool(self.capabilities.streaming)

    @property
    def input_types(self) -> tuple[str, ...]:
        """Return the media types that the agent or one of its skills accepts."""
        skills = (mode for skill in self.skills or () for mode in skill.input_modes or ())
        modes = (*(self.default_input_modes or ()), *skills)
        return tuple(dict.fromkeys(mode for mode in modes if "/" in mode))

    @property
    def summary(self) -> str:
        """Return the agent's description, followed by a list of its skills."""
        skills = [
            f"- {one_line(skill.name)}: {skill.description.strip()}"
            for skill in (self.skills or ())[:MOST_SKILLS]
            if skill.description.strip() not in ("", self.description.strip())
        ]
        lines = ["Its skills:", *skills] if skills else []
        return "\n".join(filter(None, [self.description.strip(), *lines]))


@dataclass(frozen=True, slots=True)
class AgentEndpoint:
    """The URL and the protocol binding with which an agent is called."""

    url: str
    binding: Binding
    tenant: str = ""


@dataclass(frozen=True, slots=True)
class FoundAgent:
    card: AgentCard
    endpoint: AgentEndpoint


_agents = AgedCache[str, FoundAgent]()
_failures = AgedCache[str, str]()


async def find_agent(server: AgentServer, caller: Caller) -> FoundAgent:
    """Find the agent on the server, using the caller's credentials. Raises `ToolError` if its card
    cannot be loaded or used.
    """
    return await server.with_credentials(caller, partial(find_with, server))


async def find_with(server: AgentServer, draft: RequestDraft) -> FoundAgent:
    """Return the agent from the cache, or load its card. Raises `ToolError` if the card cannot be
    loaded or used.
    """
    key = card_key(server, draft)
    if (failure := _failures.get(key, FAILURE_SECONDS)) is not None:
        raise ToolError(failure)

    if (found := _agents.get(key, MAX_AGE_SECONDS)) is not None:
        return found
    try:
        found = await load_agent(server, draft)
    except ToolError as error:
        if not error.is_lasting:
            _failures.put(key, str(error))
        raise
    _agents.put(key, found)
    return found


def card_key(server: AgentServer, draft: RequestDraft) -> str:
    """Return the cache key of a card.

    The key includes a hash of the caller's credentials, because a server may send callers different
    cards.
    """
    sent = [server.url, sorted(draft.headers.items()), sorted(draft.query.items())]
    return hashlib.sha256(json.dumps(sent).encode()).hexdigest()


async def load_agent(server: AgentServer, draft: RequestDraft) -> FoundAgent:
    """Load the agent's card from the server. Raises `ToolError` if the card does not arrive in time
    or cannot be used.
    """
    name = server.label
    try:
        async with asyncio.timeout(min(CARD_SECONDS, server.seconds)):
            async with send(server, name, draft, card_url(server.url), method="GET") as response:
                body = await read_body(response, MOST_CARD_BYTES)
    except TimeoutError as error:
        raise ToolError(
            f"{called(server, name)}: the server did not send its agent card within {CARD_SECONDS:g} seconds."
        ) from error
    card = read_card(server, body)
    return FoundAgent(card, find_endpoint(server, card))


def card_url(url: str) -> str:
    parts = urlsplit(url)
    if parts.path.endswith(".json"):
        return url
    return parts._replace(path=parts.path.rstrip("/") + WELL_KNOWN).geturl()


def read_card(server: AgentServer, body: bytes) -> AgentCard:
    """Parse the body of a response. Raises `ToolError` if it is not a valid agent card."""
    problem: Exception
    try:
        return msgspec.json.decode(body, type=AgentCard)
    except msgspec.ValidationError as error:
        problem, reason = error, f"its agent card is not valid: {one_line(str(error))}."
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        problem = error
        reason = "there is no agent card at this URL: the response is not JSON."
    raise ToolError(f"{called(server, server.label)}: {reason}") from problem


def find_endpoint(server: AgentServer, card: AgentCard) -> AgentEndpoint:
    """Return the first interface of the card that QuickApps supports. Raises `ToolError` if there
    is none.
    """
    who = called(server, server.label)
    for extension in (card.capabilities and card.capabilities.extensions) or ():
        if extension.required:
            raise ToolError(
                f"{who}: the agent requires the extension {one_line(extension.uri)!r}, which is "
                "not supported."
            )
    elsewhere = ""
    offered: list[str] = []
    for one in card.supported_interfaces or ():
        offered.append(f"{one_line(one.protocol_binding)} {one_line(one.protocol_version)}".strip())
        binding = next((known for known in BINDINGS if known == one.protocol_binding), None)
        if binding is None or one.protocol_version.split(".")[:2] != PROTOCOL_VERSION.split("."):
            continue
        if (url := own_url(server, one.url)) is not None:
            return AgentEndpoint(url.rstrip("/"), binding, one.tenant or "")
        elsewhere = elsewhere or origin_of(one.url)
    if elsewhere:
        raise ToolError(
            f"{who}: its agent card points to {one_line(elsewhere)}, but credentials are sent "
            "only to the server in the toolset's `url`. To trust the other server, set "
            "`url` to a URL on that server."
        )
    versions = ", ".join(offered) or f"JSONRPC {card.protocol_version or 'of an unknown version'}"
    raise ToolError(
        f"{who}: the agent offers {one_line(versions)}; a JSONRPC or HTTP+JSON interface of "
        f"version {PROTOCOL_VERSION} is required."
    )


def own_url(server: AgentServer, url: str) -> str | None:
    """Return the interface's URL if it is on the toolset's server, otherwise None.

    Cards of agents on this site contain `PUBLIC_URL`. Replace it with the toolset's server.
    """
    found = origin_of(url)
    if found == origin_of(server.url):
        return url
    if server.trust is Trust.SITE and found == origin_of(settings.PUBLIC_URL):
        here, there = urlsplit(server.url), urlsplit(url)
        return there._replace(scheme=here.scheme, netloc=here.netloc).geturl()
    return None
