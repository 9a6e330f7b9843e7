"""The workspace without DIAL Core: deployments and files of our own database and storage."""

from __future__ import annotations

import copy
import logging
import os
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from channels.db import database_sync_to_async
from django.conf import settings

from apps.accounts.caller import Caller
from apps.aged_cache import AgedCache
from apps.agent.model import Model
from apps.demo.model import SUPPORTED_PARAMETERS as DEMO_PARAMETERS
from apps.demo.model import DemoModel
from apps.errors import DeploymentNotFound, FileRefused, Unsupported
from apps.workspace.local.caller_files import LocalFiles
from apps.workspace.local.models import KEY_VARIABLE, Deployment
from apps.workspace.openai.model import make_model as make_openai_model
from apps.workspace.port import DeploymentInfo, McpEndpoint, SignIn, StoredSkill

logger = logging.getLogger(__name__)

DIAL_DEPLOYMENTS = "/openai/deployments/"
RowVersion = tuple[int, int]
"""Id and version of a row; the id tells a row apart from one of the same name made later."""


@dataclass(frozen=True, slots=True)
class FoundDeployment:
    version: RowVersion
    info: DeploymentInfo
    provider: str
    base_url: str
    model_name: str
    api_key: str = field(default="", repr=False)
    api_key_env: str = ""


_deployments = AgedCache[str, FoundDeployment]()


def forget_deployments() -> None:
    _deployments.clear()


async def find_deployment(deployment_id: str) -> FoundDeployment:
    """An enabled deployment, no older than `CATALOG_MAX_AGE_SECONDS`.

    Raises `DeploymentNotFound`.
    """
    kept = _deployments.get(deployment_id, settings.CATALOG_MAX_AGE_SECONDS)
    if kept is not None:
        return kept
    now, known = time.monotonic(), _deployments.get(deployment_id)
    if known is not None:
        _deployments.put(deployment_id, known, now)  # a burst asks the database once
    found: FoundDeployment | None = None
    try:
        found = await database_sync_to_async(look_up_deployment)(deployment_id, known)
    finally:
        if known is not None or found is not None:
            _deployments.put(deployment_id, found, now)
    if found is None:
        raise DeploymentNotFound(deployment_id)
    return found


def look_up_deployment(deployment_id: str, known: FoundDeployment | None) -> FoundDeployment | None:
    """The row as it is now; `known` itself while it has not changed."""
    if "\0" in deployment_id:  # PostgreSQL refuses to look for it
        return None
    enabled = Deployment.objects.filter(deployment_id=deployment_id, is_enabled=True)
    if known is not None and enabled.values_list("pk", "version").first() == known.version:
        return known
    row = enabled.first()
    return read_row(row) if row is not None else None


def enabled_deployment_ids() -> list[str]:
    enabled = Deployment.objects.filter(is_enabled=True)
    return list(enabled.values_list("deployment_id", flat=True))


def read_row(row: Deployment) -> FoundDeployment:
    info = DeploymentInfo(
        id=row.deployment_id,
        display_name=row.display_name,
        description=row.description,
        features=row.features,
        input_attachment_types=tuple(row.input_attachment_types),
        context_window=row.context_window,
        defaults=row.parameters,
        # Nothing outside can fetch our files, so their bytes go into the request.
        files="data" if speaks_dial(row) else "none",
        configuration_schema=configuration_schema(row),
        is_application=speaks_dial(row),
        supported_parameters=DEMO_PARAMETERS if row.provider == Deployment.Provider.DEMO else None,
    )
    return FoundDeployment(
        version=(row.pk, row.version),
        info=info,
        provider=row.provider,
        base_url=row.base_url,
        model_name=row.model_name or row.deployment_id,
        api_key=str(row.api_key),
        api_key_env=row.api_key_env,
    )


def speaks_dial(row: Deployment) -> bool:
    return row.features.get("dial") is True


def configuration_schema(row: Deployment) -> Mapping[str, Any]:
    schema = row.features.get("configuration_schema")
    return schema if isinstance(schema, Mapping) else {}


def make_model(deployment: FoundDeployment, idle_seconds: float | None = None) -> Model:
    if deployment.provider == Deployment.Provider.DEMO:
        return DemoModel()
    return make_openai_model(
        base_url=deployment.base_url,
        api_key=key_of(deployment),
        model=deployment.model_name,
        dial=deployment.info.features.get("dial") is True,
        idle_seconds=idle_seconds,
    )


def make_mcp_endpoint(deployment: FoundDeployment) -> McpEndpoint:
    """The MCP server that DIAL has for a toolset or an application. Raises `Unsupported`."""
    if deployment.info.features.get("dial") is not True:
        raise Unsupported(
            f"The deployment {deployment.info.id!r} is no service of DIAL's, so no MCP server is "
            "known of it. Name the address of one in a toolset of type 'mcp'."
        )
    address = deployment.base_url.partition("?")[0]
    root, found, name = address.rstrip("/").partition(DIAL_DEPLOYMENTS)
    key = key_of(deployment)
    return McpEndpoint(
        f"{root}/v1/toolset/{name if found else deployment.model_name}/mcp",
        {"Api-Key": key} if key else {},
        display_name=deployment.info.display_name,
        description=deployment.info.description,
    )


def key_of(deployment: FoundDeployment) -> str:
    """The stored key, else that of the environment variable; "" for a service without one."""
    name = deployment.api_key_env
    if deployment.api_key or not name:
        return deployment.api_key
    key = os.environ.get(name, "").strip() if KEY_VARIABLE.fullmatch(name) else ""
    if not key:
        logger.warning("Deployment %s: %s holds no key.", deployment.info.id, name)
    return key


@dataclass(frozen=True, slots=True)
class FoundApplication:
    """An application of our own, as a deployment."""

    info: DeploymentInfo
    model: Model


FindApplication = Callable[[str, "LocalWorkspace"], Awaitable[FoundApplication]]
"""By name, for a run with that workspace. Raises `DeploymentNotFound`, `CallsItself`."""
ListApplications = Callable[[Caller], Awaitable[Collection[str]]]
"""The names of the applications that the caller may use."""


async def list_no_applications(caller: Caller) -> Collection[str]:
    return ()


async def find_no_application(name: str, workspace: LocalWorkspace) -> FoundApplication:
    raise DeploymentNotFound(name)


class LocalWorkspace:
    """Holds no database connection between two calls.

    `chain` are the applications around this run, the outermost first.
    """

    def __init__(
        self,
        caller: Caller,
        find_application: FindApplication = find_no_application,
        list_applications: ListApplications = list_no_applications,
    ) -> None:
        self.caller = caller
        self.find_application = find_application
        self.list_applications = list_applications
        self.chain: tuple[str, ...] = ()

    def inside(self, application: str) -> LocalWorkspace:
        inner = copy.copy(self)
        inner.chain = (*self.chain, application)
        return inner

    def with_headers(self, names: Collection[str]) -> LocalWorkspace:
        """The same, but the caller has only headers of these names."""
        wanted = {name.lower() for name in names}
        kept = {n: value for n, value in self.caller.headers.items() if n.lower() in wanted}
        narrowed = copy.copy(self)
        narrowed.caller = replace(self.caller, headers=kept)
        return narrowed

    async def deployment(self, deployment_id: str) -> DeploymentInfo:
        """Raises `DeploymentNotFound`, `CallsItself`."""
        try:
            return (await find_deployment(deployment_id)).info
        except DeploymentNotFound:
            return (await self.find_application(deployment_id, self)).info

    async def facts(self, deployment_id: str) -> DeploymentInfo:
        return await self.deployment(deployment_id)

    async def assumed(self, deployment_id: str) -> DeploymentInfo:
        return await self.deployment(deployment_id)

    async def model(
        self,
        deployment_id: str,
        *,
        headers: Collection[str] | None = None,
        idle_seconds: float | None = None,
    ) -> Model:
        # Headers go to our own applications alone, which have time-outs of their own.
        try:
            return make_model(await find_deployment(deployment_id), idle_seconds)
        except DeploymentNotFound:
            narrowed = self if headers is None else self.with_headers(headers)
            return (await self.find_application(deployment_id, narrowed)).model

    async def usable_deployments(self) -> frozenset[str]:
        enabled: list[str] = await database_sync_to_async(enabled_deployment_ids)()
        return frozenset((*enabled, *await self.list_applications(self.caller)))

    async def prompt(self, path: str) -> str:
        """Raises `Unsupported`."""
        raise Unsupported(
            f"The prompt {path!r} is stored in DIAL, which this installation does not use. "
            "Write its text into the application as a custom prompt."
        )

    async def skill(self, path: str) -> StoredSkill:
        """Raises `Unsupported`."""
        raise Unsupported(
            f"The skill {path!r} is stored in DIAL, which this installation does not use."
        )

    async def skill_file(self, path: str, file: str) -> str:
        """Raises `Unsupported`."""
        raise Unsupported(
            f"The skill {path!r} is stored in DIAL, which this installation does not use."
        )

    @property
    def files(self) -> LocalFiles:
        return LocalFiles(self.caller.bucket, self.caller.folder)

    async def mcp_endpoint(self, deployment_id: str) -> McpEndpoint:
        """Of a deployment that is a service of DIAL's. Raises `Unsupported`."""
        try:
            return make_mcp_endpoint(await find_deployment(deployment_id))
        except DeploymentNotFound:
            raise Unsupported(
                f"The toolset {deployment_id!r} is kept in DIAL, which this installation does not "
                "use. Name the address of its MCP server in a toolset of type 'mcp'."
            ) from None

    async def sign_in(self, toolset_ids: Sequence[str]) -> Mapping[str, SignIn]:
        return dict.fromkeys(toolset_ids, "unavailable")

    async def sign_in_to_service(self, scope: str) -> SignIn:
        return "unavailable"

    async def grant(self, paths: Sequence[str], receiver: str) -> None:
        """Raises `FileRefused`."""
        raise FileRefused("Files cannot be shared with a server outside of this installation.")
