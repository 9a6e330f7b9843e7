"""Toolsets of the kind `rest-api`: each operation of an HTTP service becomes a tool."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from functools import partial

from django.conf import settings

from apps.agent.tools import ToolSpec
from apps.capabilities.registry import Capability, Contribution, Open, Opening
from apps.capabilities.rest.addresses import Address, read_address
from apps.capabilities.rest.authorizations import authorization_problem
from apps.capabilities.rest.calls import call
from apps.capabilities.rest.operations import Operation
from apps.capabilities.rest.parameters import read_places
from apps.capabilities.wrappers.arguments import read_arguments
from apps.capabilities.wrappers.composition import Wishes, wrapped
from apps.capabilities.wrappers.display import display_of
from apps.capabilities.wrappers.prepared import PreparedTool
from apps.capabilities.wrappers.texts import written
from apps.errors import InitializationIssue
from apps.manifest.attachments import ResponseAsAttachment
from apps.manifest.authorizations import ClientIdSecretAuthorization
from apps.manifest.manifest import Manifest
from apps.manifest.naming import localized, visible_name
from apps.manifest.parameters import RestConstParameter, RestFunctionParameters, RestParameter
from apps.manifest.tools import RestTool
from apps.manifest.toolsets import RestToolSet
from apps.workspace.egress.headers import header_name_problem, header_value_problem
from apps.workspace.egress.urls import AddressInvalid

logger = logging.getLogger(__name__)

REPEATABLE = frozenset({"GET", "PUT", "DELETE"})
"""The methods of which HTTP says that sending a request twice does no more than sending it once."""


def prepare(manifest: Manifest) -> Open | None:
    """Read every REST toolset; what cannot be used becomes an issue and the rest goes on."""
    tools: list[PreparedTool] = []
    issues: list[InitializationIssue] = []
    for path, toolset in toolsets(manifest):
        try:
            check_authorization(path, toolset)
        except InitializationIssue as issue:
            issues.append(issue)
            continue
        for place, tool in tools_of(path, toolset):
            try:
                prepared = prepare_tool(place, tool, toolset, manifest)
                tools.append(replace(prepared, toolset=path))
            except InitializationIssue as issue:
                issues.append(issue)
    if not tools and not issues:
        return None

    def open_rest(opening: Opening) -> AbstractAsyncContextManager[Contribution]:
        bound = tuple(tool.bind(opening) for tool in tools)
        return nullcontext(Contribution(tools=bound, issues=tuple(issues)))

    return open_rest


def toolsets(manifest: Manifest) -> Iterator[tuple[str, RestToolSet]]:
    """The enabled ones, each with its path."""
    for index, toolset in enumerate(manifest.tool_sets):
        if isinstance(toolset, RestToolSet) and toolset.enabled:
            yield f"tool_sets[{index}]", toolset


def tools_of(path: str, toolset: RestToolSet) -> Iterator[tuple[str, RestTool]]:
    for index, tool in enumerate(toolset.tools):
        if isinstance(tool, RestTool) and tool.enabled:
            yield f"{path}.tools[{index}]", tool


def check_authorization(path: str, toolset: RestToolSet) -> None:
    """Raises `InitializationIssue`."""
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
    arguments = read_arguments(function.parameters)
    seconds = manifest.tool_defaults.timeout_seconds or settings.DEFAULT_TOOL_TIMEOUT_SECONDS
    operation = read_operation(path, tool, toolset, name, seconds, most_bytes(manifest))
    title = toolset.name if localized(toolset.name) else f"Calling {function.name}"
    return wrapped(
        PreparedTool(
            ToolSpec(name, function.description, arguments.schema), partial(call, operation)
        ),
        Wishes(
            arguments,
            display_of(manifest, title, tool=tool.display, parameters=function.parameters),
            seconds,
            tool.attachment,
            tool.fallback_configuration,
            is_repeatable=operation.method in REPEATABLE,
        ),
    )


def read_operation(
    path: str, tool: RestTool, toolset: RestToolSet, name: str, seconds: float, size: int
) -> Operation:
    function, method = tool.open_ai_tool.function, tool.rest_api_method_info
    address = read_url(f"{path}.rest_api_method_info.method_url", method.method_url)
    check_parameters(f"{path}.open_ai_tool.function.parameters", function.parameters, address)
    wanted = tool.response_as_attachment or toolset.response_as_attachment
    if wanted is None:
        logger.warning(
            "Tool %s: response_as_attachment is not set, so answers are not kept as files; "
            'write {"enabled": false} if that is meant',
            name,
        )
    places = {key: p.parameter_info for key, p in function.parameters.properties.items()}
    return Operation(
        name=name,
        function=function.name,
        method=method.method_type.upper(),
        address=address,
        places=read_places(places),
        authorization=toolset.authorization,
        attachment=wanted or ResponseAsAttachment(),
        most_seconds=seconds,
        most_bytes=size,
        forwarded=frozenset(name.lower() for name in toolset.forward_headers or ()),
    )


def most_bytes(manifest: Manifest) -> int:
    own = manifest.features.file_loading.size_limit if manifest.features is not None else None
    return own or int(settings.DEFAULT_FILE_LOADING_SIZE_LIMIT)


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
    """Why no call could ever send the parameter; "" when there is no such reason."""
    place = parameter.parameter_info
    constant = parameter.const if isinstance(parameter, RestConstParameter) else None
    if place.type == "header":
        return header_name_problem(place.key) or header_value_problem(written(constant))
    if place.type == "url" and isinstance(parameter, RestConstParameter):
        is_text = isinstance(constant, str | int | float) and constant not in {"", ".", ".."}
        return "" if is_text else "a constant in an address has to be text or a number."
    return ""


rest = Capability("rest", frozenset({"tool_sets.rest-api"}), prepare)
