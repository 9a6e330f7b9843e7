"""A fake DIAL Core in front of an MCP server, which requires a sign-in."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import httpx

from apps.accounts.caller import Caller, Credentials
from apps.errors import FileMissing
from apps.workspace.port import DeploymentInfo, McpEndpoint, SignIn
from tests.capabilities.service import Reply, Seen, serving
from tests.fakes import FakeWorkspace

KEY = "per-request-key"
CALLER = Caller("user-7", "user", user_id=7, credentials=Credentials(api_key=KEY))
PASSED_ON = ("content-type", "mcp-session-id")
_place = re.compile(r"/v1/toolset/(.+)/mcp")


@dataclass
class Core:
    url: str = ""
    signed_in: set[str] = field(default_factory=set)
    services: set[str] = field(default_factory=set)
    seen: list[Seen] = field(default_factory=list)
    hold: Callable[[Seen], Awaitable[None]] | None = None
    """Awaited before each answer."""

    def asked(self, method: str) -> int:
        """Return the number of such requests to the server behind it."""
        return sum(f'"{method}"'.encode() in seen.body for seen in self.seen)


@asynccontextmanager
async def core_before(server: str, *signed_in: str) -> AsyncIterator[Core]:
    core = Core(signed_in=set(signed_in))

    async def answer(seen: Seen) -> Reply:
        core.seen.append(seen)
        if core.hold is not None:
            await core.hold(seen)
        found = _place.fullmatch(seen.target)
        if found is None:
            return Reply(404)
        if not seen.headers.get("api-key", "").startswith(KEY) or found[1] not in core.signed_in:
            return Reply(401)
        if seen.method == "GET":
            return Reply(405)
        kept = ("accept", "content-type", "mcp-session-id", "mcp-protocol-version")
        headers = seen.told(*kept)
        if core.services:
            headers["x-service"] = "signed in"
        reply = await client.request(seen.method, server, content=seen.body, headers=headers)
        passed = {name: reply.headers[name] for name in PASSED_ON if name in reply.headers}
        return Reply(reply.status_code, reply.content, passed)

    # Reading the certificates of all authorities takes longer than most of the tests.
    async with (
        httpx.AsyncClient(timeout=60, trust_env=False, verify=False) as client,
        serving(answer=answer) as service,
    ):
        core.url = service.url
        yield core


class CoreWorkspace(FakeWorkspace):
    """Has the toolsets of a Core, a user who always responds in the same way, and records all
    requests."""

    def __init__(
        self, core: Core, caller: Caller = CALLER, outcomes: Mapping[str, SignIn] | None = None
    ) -> None:
        super().__init__(caller)
        self.core = core
        self.outcomes = outcomes or {}
        self.names: dict[str, str | Mapping[str, str]] = {}
        self.reached: list[str] = []
        self.asked: list[list[str]] = []
        self.asked_for_services: list[str] = []
        self.granted: list[tuple[list[str], str]] = []
        self.described: list[str] = []
        self.listed = 0
        self.usable: Sequence[str] = ()
        self.failures: dict[str, Exception] = {}
        self.along: dict[str, str] = {}

    async def deployment(self, deployment_id: str) -> DeploymentInfo:
        self.described.append(deployment_id)
        return await super().deployment(deployment_id)

    async def assumed(self, deployment_id: str) -> DeploymentInfo:
        return DeploymentInfo(deployment_id, deployment_id)

    async def mcp_endpoint(self, deployment_id: str) -> McpEndpoint:
        self.reached.append(deployment_id)
        if deployment_id in self.failures:
            raise self.failures[deployment_id]
        return McpEndpoint(
            f"{self.core.url}/v1/toolset/{deployment_id}/mcp",
            {"Api-Key": self.caller.credentials.api_key, **self.along},
            display_name=self.names.get(deployment_id, ""),
        )

    async def sign_in(self, toolset_ids: Sequence[str]) -> Mapping[str, SignIn]:
        self.asked.append(list(toolset_ids))
        outcomes = {id: self.outcomes.get(id, "success") for id in toolset_ids}
        self.core.signed_in.update(id for id, how in outcomes.items() if how == "success")
        return outcomes

    async def sign_in_to_service(self, scope: str) -> SignIn:
        self.asked_for_services.append(scope)
        outcome = self.outcomes.get(scope, "success")
        if outcome == "success":
            self.core.services.add(scope)
        return outcome

    async def usable_deployments(self) -> frozenset[str]:
        self.listed += 1
        return frozenset(self.usable)

    async def grant(self, paths: Sequence[str], receiver: str) -> None:
        if any("missing" in path for path in paths):
            raise FileMissing("This file does not exist.")
        self.granted.append((list(paths), receiver))
