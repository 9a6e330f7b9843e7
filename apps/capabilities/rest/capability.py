"""Toolsets of the kind `rest-api`: each operation of an HTTP service becomes a tool."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial

from apps.agent.tools import ToolSpec
from apps.capabilities.registry import Capability, Contribution, Open, Opening
from apps.capabilities.rest.addresses import Address, read_address
from apps.capabilities.rest.authorizations import authorization_problem
from apps.capabilities.rest.calls import call
from apps.capabilities.rest.requests import Operation
from apps.capabilities.wrappers.arguments import read_arguments
from apps.capabilities.wrappers.composition import Wishes, wrapped
from apps.capabilities.wrappers.display import display_of, title_of
from apps.capabilities.wrappers.prepared import PreparedTool
from apps.capabilities.wrappers.texts import as_text
from apps.errors import InitializationIssue
from apps.manifest.attachments import ResponseAsAttachment
from apps.manifest.authorizations import (
    ClientIdSecretAuthorization,
    ForwardAuthTokenAuthorization,
    credentials_in,
)
from apps.manifest.manifest import Manifest
from apps.manifest.names import visible_name
from apps.manifest.parameters import RestConstParameter, RestFunctionParameters, RestParameter
from apps.manifest.problems import join
from apps.manifest.secrets import Credential
from apps.manifest.tools import RestTool
from apps.manifest.toolsets import RestToolSet
from apps.workspace.egress.headers import header_name_problem, header_value_problem
from apps.workspace.egress.urls import AddressInvalid
from apps.workspace.loading.loader import Rules, rules_of
from apps.workspace.local.stored_secrets import Need, refusals

logger = logging.getLogger(__name__)

NO_QUERY = "the paths of the tools follow it, so it has no query and no fragment."
REPEATABLE = frozenset({"GET", "PUT", "DELETE"})
"""Idempotent methods (RFC 9110, 9.2.2)."""


def prepare(manifest: Manifest) -> Open | None:
    """Read every REST toolset; what cannot be used becomes an issue and the rest goes on."""
    tools: list[tuple[str, PreparedTool]] = []
    issues: list[InitializationIssue] = []
    needs: list[Need] = []
    for path, toolset in toolsets(manifest):
        try:
            check_shared(path, toolset)
        except InitializationIssue as issue:
            issues.append(issue)
            continue
        needs += needs_of_toolset(path, toolset)
        for place, tool in tools_of(path, toolset):
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
        refused = await refusals(needs)
        usable = (tool for place, tool in tools if not any(is_below(place, p) for p in refused))
        unusable = (InitializationIssue(f"{path}: {why}") for path, why in refused.items())
        bound = tuple(tool.bind(opening) for tool in usable)
        yield Contribution(tools=bound, issues=(*issues, *unusable))

    return open_rest


def is_below(place: str, path: str) -> bool:
    """Whether a tool needs the credential at a path: its own, or that of its toolset."""
    toolset, _, inside = path.partition(".")
    is_of_a_tool = inside.startswith("tools[")
    return path.startswith(f"{place}.") if is_of_a_tool else place.startswith(f"{toolset}.")


def needs_of_toolset(path: str, toolset: RestToolSet) -> Iterator[Need]:
    """Credentials that go to all services of the toolset, and to its token service."""
    tools = (tool.rest_api_method_info for _, tool in tools_of(path, toolset))
    urls = tuple(map(toolset.address_of, tools))
    for name, value in toolset.headers.items():
        yield Need(join(f"{path}.headers", name), value, urls)
    how = toolset.authorization
    if how is None or isinstance(how, ForwardAuthTokenAuthorization):
        return
    if isinstance(how, ClientIdSecretAuthorization):
        urls = (*urls, how.token_url)
    for name, credential in credentials_in(how):
        yield Need(f"{path}.authorization.{name}", credential, urls)


def needs_of_tool(path: str, tool: RestTool, toolset: RestToolSet) -> Iterator[Need]:
    parameters = tool.open_ai_tool.function.parameters
    for name, credential in credentials_of(parameters).items():
        place = join(f"{path}.open_ai_tool.function.parameters.properties", name)
        url = toolset.address_of(tool.rest_api_method_info)
        yield Need(f"{place}.const", credential, (url,))


def toolsets(manifest: Manifest) -> Iterator[tuple[str, RestToolSet]]:
    for index, toolset in enumerate(manifest.tool_sets):
        if isinstance(toolset, RestToolSet) and toolset.enabled:
            yield f"tool_sets[{index}]", toolset


def tools_of(path: str, toolset: RestToolSet) -> Iterator[tuple[str, RestTool]]:
    for index, tool in enumerate(toolset.tools):
        if isinstance(tool, RestTool) and tool.enabled:
            yield f"{path}.tools[{index}]", tool


def check_shared(path: str, toolset: RestToolSet) -> None:
    """Raises `InitializationIssue`."""
    if toolset.base_url:
        read_url(f"{path}.base_url", toolset.base_url)
        if not {"?", "#"}.isdisjoint(toolset.base_url):
            raise InitializationIssue(f"{path}.base_url: {NO_QUERY}")
    for name, value in toolset.headers.items():
        if problem := header_name_problem(name) or header_value_problem(value.text):
            raise InitializationIssue(f"{join(f'{path}.headers', name)}: {problem}")
    how = toolset.authorization
    if problem := authorization_problem(how):
        raise InitializationIssue(f"{path}.authorization: {problem}")
    if isinstance(how, ClientIdSecretAuthorization):
        read_url(f"{path}.authorization.token_url", how.token_url)


def prepare_tool(
    path: str, tool: RestTool, toolset: RestToolSet, manifest: Manifest
) -> PreparedTool:
    """Raises `InitializationIssue`."""
    function = tool.open_ai_tool.function
    name = visible_name(toolset.name, function.name)
    parameters = without_credentials(function.parameters)
    arguments = read_arguments(parameters)
    rules = rules_of(manifest)
    operation = read_operation(path, tool, toolset, name, rules)
    title = title_of(toolset.name, function.name, f"Calling {function.name}")
    return wrapped(
        PreparedTool(
            ToolSpec(name, function.description, arguments.schema), partial(call, operation)
        ),
        Wishes(
            arguments,
            display_of(manifest, title, tool=tool.display, parameters=parameters),
            rules.seconds,
            tool.attachment,
            tool.fallback_configuration,
            is_repeatable=operation.method in REPEATABLE,
        ),
    )


def read_operation(
    path: str, tool: RestTool, toolset: RestToolSet, name: str, rules: Rules
) -> Operation:
    function, method = tool.open_ai_tool.function, tool.rest_api_method_info
    url = toolset.address_of(method)
    address = read_url(f"{path}.rest_api_method_info.method_url", url)
    check_parameters(f"{path}.open_ai_tool.function.parameters", function.parameters, address)
    wanted = tool.response_as_attachment or toolset.response_as_attachment
    if wanted is None:
        logger.warning(
            "Tool %s: response_as_attachment is not set, so answers are not kept as files; "
            'write {"enabled": false} if that is meant',
            name,
        )
    return Operation(
        name=name,
        function=function.name,
        method=method.method_type.upper(),
        address=address,
        places={key: p.parameter_info for key, p in function.parameters.properties.items()},
        authorization=toolset.authorization,
        attachment=wanted or ResponseAsAttachment(),
        most_seconds=rules.seconds,
        most_bytes=rules.limit,
        headers={name.lower(): value for name, value in toolset.headers.items()},
        credentials=credentials_of(function.parameters),
        forwarded=frozenset(name.lower() for name in toolset.forward_headers or ()),
    )


def credentials_of(parameters: RestFunctionParameters) -> dict[str, Credential]:
    return {
        name: parameter.const
        for name, parameter in parameters.properties.items()
        if isinstance(parameter, RestConstParameter) and isinstance(parameter.const, Credential)
    }


def without_credentials(parameters: RestFunctionParameters) -> RestFunctionParameters:
    """The parameters that models and stages are told of."""
    hidden = credentials_of(parameters)
    if not hidden:
        return parameters
    shown = {n: p for n, p in parameters.properties.items() if n not in hidden}
    required = tuple(name for name in parameters.required or () if name not in hidden)
    return parameters.model_copy(update={"properties": shown, "required": required or None})


def read_url(path: str, url: str) -> Address:
    try:
        return read_address(url)
    except AddressInvalid as error:
        raise InitializationIssue(f"{path}: {error}") from error


def check_parameters(path: str, parameters: RestFunctionParameters, address: Address) -> None:
    """Every placeholder is filled, and every header can be sent. Raises `InitializationIssue`."""
    filled = set()
    for name, parameter in parameters.properties.items():
        if parameter.parameter_info.type == "url":
            filled.add(parameter.parameter_info.key)
        if problem := parameter_problem(parameter):
            raise InitializationIssue(f"{path}.properties.{name}: {problem}")
    if missing := sorted(address.placeholders - filled):
        raise InitializationIssue(
            f"{path}: no parameter of type url has the key {missing[0]!r}, "
            "which stands in the address."
        )


def parameter_problem(parameter: RestParameter) -> str:
    """Why no call could send the parameter, "" if one can."""
    place = parameter.parameter_info
    constant = parameter.const if isinstance(parameter, RestConstParameter) else None
    if isinstance(constant, Credential):
        named = header_name_problem(place.key) if place.type == "header" else ""
        return named or header_value_problem(constant.text)
    if place.type == "header":
        return header_name_problem(place.key) or header_value_problem(as_text(constant))
    if place.type == "url" and isinstance(parameter, RestConstParameter):
        is_text = isinstance(constant, str | int | float) and constant not in {"", ".", ".."}
        return "" if is_text else "a constant in an address has to be text or a number."
    return ""


rest = Capability("rest", frozenset({"tool_sets.rest-api"}), prepare)
