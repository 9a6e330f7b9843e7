"""Defines toolsets of the kind `rest-api`, whose tools call the operations of an HTTP service."""

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial

from apps.capabilities.registry import Capability, Contribution, Open, Opening, PreparedTool
from apps.capabilities.rest.authorizations import authorization_problem
from apps.capabilities.rest.calls import call_service
from apps.capabilities.rest.operations import (
    credentials_of,
    read_operation,
    read_url,
    visible_parameters,
)
from apps.capabilities.wrappers.approval import Risk
from apps.capabilities.wrappers.approval_rules import approval_rules
from apps.capabilities.wrappers.arguments import read_arguments
from apps.capabilities.wrappers.composition import ToolOptions, prepared_tool
from apps.capabilities.wrappers.display import display_of, tool_title
from apps.capabilities.wrappers.sign_in import with_sign_in
from apps.errors import InitializationIssue
from apps.manifest.kinds.rest import RestToolSet
from apps.manifest.manifest import Manifest
from apps.manifest.names import visible_name
from apps.manifest.nodes import enabled_nodes
from apps.manifest.problems import join_path
from apps.manifest.toolsets.authorizations import (
    ClientIdSecretAuthorization,
    ForwardAuthTokenAuthorization,
    RestOAuthAuthorization,
    credentials_in,
)
from apps.manifest.toolsets.tools import RestTool, as_stated
from apps.workspace.egress.headers import header_name_problem, header_value_problem
from apps.workspace.loading.shared_loads import rules_of
from apps.workspace.local.secrets.stored_secrets import SecretNeed, unsendable_credentials

NO_QUERY = "it must not have a query or a fragment, because the paths of the tools follow it."
REPEATABLE = frozenset({"GET", "PUT", "DELETE"})
"""The idempotent methods, according to section 9.2.2 of RFC 9110."""
RISKS: Mapping[str, Risk] = {"GET": "read-only", "DELETE": "destructive"}


def prepare(manifest: Manifest) -> Open | None:
    """Prepare all REST toolsets of a manifest. Report unusable toolsets and tools as issues."""
    tools: list[tuple[str, PreparedTool]] = []
    issues: list[InitializationIssue] = []
    needs: list[SecretNeed] = []
    for path, toolset in enabled_nodes(RestToolSet, manifest.tool_sets, "tool_sets"):
        try:
            check_shared(path, toolset)
        except InitializationIssue as issue:
            issues.append(issue)
            continue
        needs += needs_of_toolset(path, toolset)
        for place, tool in enabled_nodes(RestTool, toolset.tools, f"{path}.tools"):
            try:
                prepared = prepare_tool(place, tool, toolset, manifest)
            except InitializationIssue as issue:
                issues.append(issue)
                continue
            needs += needs_of_tool(place, tool, toolset)
            tools.append((place, replace(prepared, toolset=path)))
    if not tools and not issues:
        return None

    @asynccontextmanager
    async def open_rest(opening: Opening) -> AsyncIterator[Contribution]:
        refused = await unsendable_credentials(needs)
        usable = (tool for place, tool in tools if not any(is_below(place, p) for p in refused))
        unusable = (InitializationIssue(f"{path}: {why}") for path, why in refused.items())
        bound = tuple(tool.bind(opening) for tool in usable)
        yield Contribution(tools=bound, issues=(*issues, *unusable))

    return open_rest


def is_below(place: str, path: str) -> bool:
    """Return True if the tool at `place` needs the credential at `path`, which belongs to a tool or
    a toolset. Both are paths in the manifest.
    """
    toolset, _, inside = path.partition(".")
    is_of_a_tool = inside.startswith("tools[")
    return path.startswith(f"{place}.") if is_of_a_tool else place.startswith(f"{toolset}.")


def needs_of_toolset(path: str, toolset: RestToolSet) -> Iterator[SecretNeed]:
    """Yield the credentials of the whole toolset, each with the URLs to which it is sent."""
    tools = enabled_nodes(RestTool, toolset.tools, f"{path}.tools")
    urls = tuple(toolset.address_of(tool.rest_api_method_info) for _, tool in tools)
    for name, value in toolset.headers.items():
        yield SecretNeed(join_path(f"{path}.headers", name), value, urls)
    how = toolset.authorization
    if how is None or isinstance(how, ForwardAuthTokenAuthorization):
        return
    if isinstance(how, ClientIdSecretAuthorization | RestOAuthAuthorization):
        urls = (*urls, how.token_url)
    for name, credential in credentials_in(how):
        yield SecretNeed(f"{path}.authorization.{name}", credential, urls)


def needs_of_tool(path: str, tool: RestTool, toolset: RestToolSet) -> Iterator[SecretNeed]:
    parameters = tool.open_ai_tool.function.parameters
    for name, credential in credentials_of(parameters).items():
        place = join_path(f"{path}.open_ai_tool.function.parameters.properties", name)
        url = toolset.address_of(tool.rest_api_method_info)
        yield SecretNeed(f"{place}.const", credential, (url,))


def check_shared(path: str, toolset: RestToolSet) -> None:
    """Raise `InitializationIssue` if the base URL, a header or the authorization of a toolset is
    invalid.
    """
    if toolset.base_url:
        read_url(f"{path}.base_url", toolset.base_url)
        if not {"?", "#"}.isdisjoint(toolset.base_url):
            raise InitializationIssue(f"{path}.base_url: {NO_QUERY}")
    for name, value in toolset.headers.items():
        if problem := header_name_problem(name) or header_value_problem(value.text):
            raise InitializationIssue(f"{join_path(f'{path}.headers', name)}: {problem}")
    how = toolset.authorization
    if problem := authorization_problem(how):
        raise InitializationIssue(f"{path}.authorization: {problem}")
    if isinstance(how, ClientIdSecretAuthorization | RestOAuthAuthorization):
        read_url(f"{path}.authorization.token_url", how.token_url)
    if isinstance(how, RestOAuthAuthorization):
        read_url(f"{path}.authorization.authorization_url", how.authorization_url)


def prepare_tool(
    path: str, tool: RestTool, toolset: RestToolSet, manifest: Manifest
) -> PreparedTool:
    """Prepare one tool in a REST toolset. Raises `InitializationIssue` if it cannot be used."""
    function = tool.open_ai_tool.function
    name = visible_name(toolset.name, function.name)
    parameters = visible_parameters(function.parameters)
    rules = rules_of(manifest)
    operation = read_operation(path, tool, toolset, name, rules)
    title = tool_title(toolset.shown_name, function.name, f"Calling {function.name}")
    options = ToolOptions(
        read_arguments(parameters),
        display_of(manifest, title, tool=tool.display, parameters=parameters),
        rules.seconds,
        tool.attachment,
        tool.fallback_configuration,
        is_repeatable=as_stated(
            tool.is_repeatable, toolset.is_repeatable, otherwise=operation.method in REPEATABLE
        ),
        is_untrusted=as_stated(tool.is_untrusted, toolset.is_untrusted, otherwise=False),
        approval=approval_rules(manifest, tool.approval, toolset.approval),
        risk=RISKS.get(operation.method, "changes"),
    )
    prepared = prepared_tool(name, function.description, partial(call_service, operation), options)
    account = operation.account
    return with_sign_in(prepared, account) if account is not None else prepared


rest = Capability("rest", frozenset({"tool_sets.rest-api"}), prepare)
