"""Moves credentials such as `?api_key=…` out of URLs, because a secret cannot be part of a URL.

A credential in the URL of a REST tool becomes a constant parameter. The only credential in the URL
of an MCP server or an agent becomes the server's authorization.
"""

from collections.abc import Collection, Iterator
from typing import Any
from urllib.parse import unquote_plus

from apps.manifest.json_places import Keys, replace_values
from apps.manifest.secrets import reads_as_credential
from apps.manifest.servers import query_pairs

AGENT_URLS = {"a2a-agent": "url", "responses-agent": "base_url"}
"""Maps the type of a toolset to the field that contains the agent's URL."""


def without_url_credentials(document: Any) -> Any:
    """Move the credentials in a document's URLs into other fields. The document may be invalid."""
    found = (
        (keys, with_own_constants(item) or with_own_key(item)) for keys, item in objects(document)
    )
    return replace_values(document, {keys: item for keys, item in found if item is not None})


def objects(document: Any) -> Iterator[tuple[Keys, dict[str, Any]]]:
    waiting: list[tuple[Keys, Any]] = [((), document)]
    while waiting:
        keys, value = waiting.pop()
        if isinstance(value, dict):
            yield keys, value
            waiting += [((*keys, key), inner) for key, inner in value.items()]
        elif isinstance(value, list):
            waiting += [((*keys, index), inner) for index, inner in enumerate(value)]


def with_own_constants(tool: dict[str, Any]) -> dict[str, Any] | None:
    """Move credentials in a REST tool's URL to constant parameters. Return None if there are none."""
    method, parameters = tool.get("rest_api_method_info"), parameters_of(tool)
    url = method.get("method_url") if isinstance(method, dict) else None
    if not isinstance(method, dict) or not isinstance(url, str) or parameters is None:
        return None
    properties = parameters["properties"]
    used_names = {key_of(parameter) for parameter in properties.values()}
    pairs = [pair for pair in query_pairs(url) if is_movable(pair, used_names)]
    if not pairs:
        return None
    constants = {
        free_key(unquote_plus(name), properties): {
            "type": None,
            "const": unquote_plus(value),
            "parameter_info": {"type": "query", "key": unquote_plus(name)},
        }
        for name, _, value in (pair.partition("=") for pair in pairs)
    }
    function = tool["open_ai_tool"]["function"]
    parameters = {**parameters, "properties": {**properties, **constants}}
    return {
        **tool,
        "rest_api_method_info": {**method, "method_url": without_pairs(url, pairs)},
        "open_ai_tool": {
            **tool["open_ai_tool"],
            "function": {**function, "parameters": parameters},
        },
    }


def with_own_key(server: dict[str, Any]) -> dict[str, Any] | None:
    """Move the credential in a server's URL to the field `authorization`. Return None if the URL
    does not contain exactly one credential, or if the field is already set.
    """
    kind = server.get("type")
    name = "url" if "protocol" in server else AGENT_URLS.get(kind if isinstance(kind, str) else "")
    url = server.get(name or "")
    if name is None or not isinstance(url, str) or server.get("authorization") is not None:
        return None
    pairs = [pair for pair in query_pairs(url) if is_movable(pair, ())]
    if len(pairs) != 1:
        return None  # `authorization` can contain only one key.
    key, _, value = map(unquote_plus, pairs[0].partition("="))
    authorization = {"type": "api_key", "name": key, "key": value, "location": "query"}
    return {**server, name: without_pairs(url, pairs), "authorization": authorization}


def parameters_of(tool: dict[str, Any]) -> dict[str, Any] | None:
    """Return the JSON schema of a tool's parameters, or None if it has no `properties`."""
    found: Any = tool
    for key in ("open_ai_tool", "function", "parameters"):
        found = found.get(key) if isinstance(found, dict) else None
    is_read = isinstance(found, dict) and isinstance(found.get("properties"), dict)
    return found if is_read else None


def key_of(parameter: Any) -> object:
    """Return the name of the query parameter in which a tool's parameter is sent, or None."""
    place = parameter.get("parameter_info") if isinstance(parameter, dict) else None
    return place.get("key") if isinstance(place, dict) and place.get("type") == "query" else None


def is_movable(pair: str, used_names: Collection[object]) -> bool:
    """Return True if `pair`, such as `key=abc`, is a credential in a query and its name is not in
    `used_names`.
    """
    name, _, value = pair.partition("=")
    name = unquote_plus(name)
    return bool(value) and reads_as_credential(name) and name not in used_names


def free_key(name: str, properties: Collection[str]) -> str:
    return name if name not in properties else free_key(f"{name}_", properties)


def without_pairs(url: str, pairs: Collection[str]) -> str:
    address, hash_mark, fragment = url.partition("#")
    path, _, query = address.partition("?")
    kept = "&".join(pair for pair in query.split("&") if pair not in pairs)
    return f"{path}{'?' if kept else ''}{kept}{hash_mark}{fragment}"
