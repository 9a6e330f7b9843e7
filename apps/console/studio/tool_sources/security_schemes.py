"""Converts the security schemes in an OpenAPI document to a toolset's authorization.

OpenAPI documents contain no credentials. The authorization therefore refers to a secret by name. An
operator must create this secret.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from apps.console.studio.tool_sources.parameter_dialect import description_or_default
from apps.console.studio.tool_sources.references import References
from apps.console.studio.tool_sources.source_texts import SourceInvalid
from apps.manifest.secrets import SECRET

_word = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class SchemeAuthorization:
    kind: str
    written: Mapping[str, Any] = field(repr=False)
    """The authorization in the format of the manifest."""
    secret: str = ""
    """The name of the secret to which the authorization refers, or ""."""


def secret_name(title: str, word: str) -> str:
    return f"{_word.sub('-', title.lower()).strip('-')[:60] or 'service'}-{word}"


def authorization_of(
    document: Mapping[str, Any], references: References, title: str
) -> SchemeAuthorization | None:
    """Return the first security scheme that a toolset can use, or None. Prefer schemes that all
    operations require.
    """
    components = document.get("components")
    schemes = components.get("securitySchemes") if isinstance(components, dict) else None
    if not isinstance(schemes, dict):
        return None
    security = document.get("security")
    wanted = [
        name
        for one in (security if isinstance(security, list) else ())
        if isinstance(one, dict)
        for name in one
        if name in schemes
    ]
    for name in dict.fromkeys((*wanted, *schemes)):
        try:
            scheme, _ = references.follow(schemes[name], f"components.securitySchemes.{name}")
        except SourceInvalid:
            continue
        if found := scheme_in_words(scheme, title):
            return found
    return None


def scheme_in_words(scheme: Mapping[str, Any], title: str) -> SchemeAuthorization | None:
    kind, way = scheme.get("type"), str(scheme.get("scheme") or "").lower()
    if kind == "http" and way in {"basic", "bearer"}:
        secret = secret_name(title, "token" if way == "bearer" else "password")
        named = {"username": ""} if way == "basic" else {}
        field_name = "token" if way == "bearer" else "password"
        return SchemeAuthorization(
            way, {"type": way, **named, field_name: {SECRET: secret}}, secret
        )
    if kind == "apiKey" and scheme.get("in") in {"header", "query"}:
        secret = secret_name(title, "key")
        told = {"name": description_or_default(scheme.get("name")), "location": scheme["in"]}
        return SchemeAuthorization(
            "api_key", {"type": "api_key", "key": {SECRET: secret}, **told}, secret
        )
    flows = scheme.get("flows")
    if kind == "oauth2" and isinstance(flows, dict):
        return oauth(flows, title)
    return None


def oauth(flows: Mapping[str, Any], title: str) -> SchemeAuthorization | None:
    """Convert the OAuth flow in which users sign in or, if it is missing, the client credentials
    flow. Returns None if there is neither.
    """
    for name, kind in (("authorizationCode", "oauth"), ("clientCredentials", "client_id_secret")):
        flow = flows.get(name)
        if not isinstance(flow, dict) or not isinstance(flow.get("tokenUrl"), str):
            continue
        secret = secret_name(title, "client")
        scopes = flow.get("scopes")
        scope = " ".join(scopes) if isinstance(scopes, dict) else ""
        signs_in = {"authorization_url": str(flow.get("authorizationUrl") or "")}
        written = {
            "type": kind,
            "client_id": "",
            "client_secret": {SECRET: secret},
            **(signs_in if kind == "oauth" else {}),
            "token_url": flow["tokenUrl"],
            **({"scope": scope} if scope else {}),
        }
        return SchemeAuthorization(kind, written, secret)
    return None
