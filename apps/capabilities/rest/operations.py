"""Reads the operations of REST toolsets from a manifest, and validates them once."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field

from apps.capabilities.rest.url_templates import ToolAddress, read_address
from apps.capabilities.wrappers.value_texts import value_text
from apps.errors import InitializationIssue
from apps.manifest.kinds.rest import RestToolSet
from apps.manifest.names import localize_text
from apps.manifest.secrets import Credential
from apps.manifest.toolsets.attachments import ResponseAsAttachment
from apps.manifest.toolsets.authorizations import RestAuthorization, RestOAuthAuthorization
from apps.manifest.toolsets.rest_parameters import (
    ParameterPlace,
    RestConstParameter,
    RestFunctionParameters,
    RestParameter,
)
from apps.manifest.toolsets.tools import RestTool
from apps.workspace.egress.headers import header_name_problem, header_value_problem
from apps.workspace.egress.urls import AddressInvalid
from apps.workspace.loading.shared_loads import LoadingRules
from apps.workspace.oauth.accounts import RequiredAccount

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of a service. Header names are in lower case."""

    name: str
    """The tool's name for the model."""
    function: str
    """The tool's name in the manifest."""
    method: str
    address: ToolAddress
    positions: Mapping[str, ParameterPlace]
    """The positions of parameters in the request, such as path or header, by parameter name."""
    authorization: RestAuthorization | None
    attachment: ResponseAsAttachment
    most_seconds: float
    most_bytes: int
    headers: Mapping[str, Credential] = field(default_factory=dict)
    """The values of the headers that are sent with every call, by header name."""
    credentials: Mapping[str, Credential] = field(default_factory=dict)
    """Constants that are hidden from models and stages, by parameter name."""
    toolset: str = ""
    forwarded: frozenset[str] = frozenset()
    """The names of the caller's headers to forward."""

    @property
    def account(self) -> RequiredAccount | None:
        how = self.authorization
        if not isinstance(how, RestOAuthAuthorization):
            return None
        return RequiredAccount(self.address.origin, self.toolset or self.name, how)


def read_operation(
    path: str, tool: RestTool, toolset: RestToolSet, name: str, rules: LoadingRules
) -> Operation:
    function, method = tool.open_ai_tool.function, tool.rest_api_method_info
    url = toolset.address_of(method)
    address = read_url(f"{path}.rest_api_method_info.method_url", url)
    check_parameters(f"{path}.open_ai_tool.function.parameters", function.parameters, address)
    wanted = tool.response_as_attachment or toolset.response_as_attachment
    if wanted is None:
        logger.warning(
            "Tool %s: response_as_attachment is not set, so responses are not stored as files; "
            'set {"enabled": false} to confirm this',
            name,
        )
    return Operation(
        name=name,
        function=function.name,
        method=method.method_type.upper(),
        address=address,
        positions={key: p.parameter_info for key, p in function.parameters.properties.items()},
        authorization=toolset.authorization,
        attachment=wanted or ResponseAsAttachment(),
        most_seconds=rules.seconds,
        most_bytes=rules.limit,
        headers={name.lower(): value for name, value in toolset.headers.items()},
        credentials=credentials_of(function.parameters),
        toolset=localize_text(toolset.name),
        forwarded=frozenset(name.lower() for name in toolset.forward_headers or ()),
    )


def credentials_of(parameters: RestFunctionParameters) -> dict[str, Credential]:
    return {
        name: parameter.const
        for name, parameter in parameters.properties.items()
        if isinstance(parameter, RestConstParameter) and isinstance(parameter.const, Credential)
    }


def visible_parameters(parameters: RestFunctionParameters) -> RestFunctionParameters:
    """Return the parameters without the constants that contain credentials."""
    hidden = credentials_of(parameters)
    if not hidden:
        return parameters
    shown = {n: p for n, p in parameters.properties.items() if n not in hidden}
    required = tuple(name for name in parameters.required or () if name not in hidden)
    return parameters.model_copy(update={"properties": shown, "required": required or None})


def read_url(path: str, url: str) -> ToolAddress:
    try:
        return read_address(url)
    except AddressInvalid as error:
        raise InitializationIssue(f"{path}: {error}") from error


def check_parameters(path: str, parameters: RestFunctionParameters, address: ToolAddress) -> None:
    """Raise `InitializationIssue` if a placeholder in the URL has no parameter, or if a parameter
    can never be sent.
    """
    places = (parameter.parameter_info for parameter in parameters.properties.values())
    filled = {place.key for place in places if place.type == "url"}
    for name, parameter in parameters.properties.items():
        if problem := parameter_problem(parameter):
            raise InitializationIssue(f"{path}.properties.{name}: {problem}")
    if missing := sorted(address.placeholders - filled):
        raise InitializationIssue(
            f"{path}: the URL contains {missing[0]!r}, but there is no parameter of type "
            "url with this key."
        )


def parameter_problem(parameter: RestParameter) -> str:
    """Return the reason why the parameter can never be sent, or "" if it can."""
    place = parameter.parameter_info
    constant = parameter.const if isinstance(parameter, RestConstParameter) else None
    if isinstance(constant, Credential):
        named = header_name_problem(place.key) if place.type == "header" else ""
        return named or header_value_problem(constant.text)
    if place.type == "header":
        return header_name_problem(place.key) or header_value_problem(value_text(constant))
    if place.type == "url" and isinstance(parameter, RestConstParameter):
        is_text = isinstance(constant, str | int | float) and constant not in {"", ".", ".."}
        return "" if is_text else "a constant in a URL must be a string or a number."
    return ""
