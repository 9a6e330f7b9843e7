"""Operations of services: what a manifest says of one, checked once, for all its requests."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field

from apps.capabilities.rest.addresses import Address, read_address
from apps.capabilities.wrappers.texts import as_text
from apps.errors import InitializationIssue
from apps.manifest.attachments import ResponseAsAttachment
from apps.manifest.authorizations import RestAuthorization, RestOAuthAuthorization
from apps.manifest.names import localized
from apps.manifest.rest_parameters import (
    ParameterPlace,
    RestConstParameter,
    RestFunctionParameters,
    RestParameter,
)
from apps.manifest.secrets import Credential
from apps.manifest.tools import RestTool
from apps.manifest.toolsets import RestToolSet
from apps.workspace.egress.headers import header_name_problem, header_value_problem
from apps.workspace.egress.urls import AddressInvalid
from apps.workspace.loading.shared_loads import Rules
from apps.workspace.oauth.accounts import WantedAccount

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of a service; `name` is the model's name for it, `function` the operator's.

    `places`: parameter name → its place in the request. `credentials`: parameter name → constant,
    which the model and stages are not told of. `headers` are sent with every tool of the toolset,
    `forwarded` names headers of the caller that are passed on; both in lower case. `account` is the
    one that each person signs in with, None where that is not wanted.
    """

    name: str
    function: str
    method: str
    address: Address
    places: Mapping[str, ParameterPlace]
    authorization: RestAuthorization | None
    attachment: ResponseAsAttachment
    most_seconds: float
    most_bytes: int
    headers: Mapping[str, Credential] = field(default_factory=dict)
    credentials: Mapping[str, Credential] = field(default_factory=dict)
    toolset: str = ""
    forwarded: frozenset[str] = frozenset()

    @property
    def account(self) -> WantedAccount | None:
        how = self.authorization
        if not isinstance(how, RestOAuthAuthorization):
            return None
        return WantedAccount(self.address.origin, self.toolset or self.name, how)


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
        toolset=localized(toolset.name),
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
    places = (parameter.parameter_info for parameter in parameters.properties.values())
    filled = {place.key for place in places if place.type == "url"}
    for name, parameter in parameters.properties.items():
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
