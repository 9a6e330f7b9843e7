"""Builds agent cards. A card describes an application and lists its URLs."""

import hashlib

import msgspec
from django.conf import settings

from apps.a2a.encoding import Json
from apps.catalog.resolved_application import ResolvedApplication
from apps.doors.refusals import Header

PROTOCOL_VERSION = "1.0"
MAX_AGE_SECONDS = 300
JSON_RPC, HTTP_JSON = "JSONRPC", "HTTP+JSON"


def agent_card(application: ResolvedApplication, name: str) -> Json:
    """Return the card of an application. `name` is its name in the URL: its slug, or `slug@3` for a
    version.
    """
    modes = input_modes(application)
    description = application.description or application.title
    address = f"{settings.PUBLIC_URL}/a2a/{name}"
    skill: Json = {
        "id": application.slug,
        "name": application.title,
        "description": description,
        "tags": ["assistant"],
    }
    return {
        "name": application.title,
        "description": description,
        "version": str(application.number),
        "supportedInterfaces": [
            interface(address, JSON_RPC),
            interface(address, HTTP_JSON),
        ],
        "capabilities": {
            "streaming": True,
            "pushNotifications": True,
            "extendedAgentCard": True,
        },
        "securitySchemes": {
            "bearer": {"httpAuthSecurityScheme": {"scheme": "Bearer"}},
            "apiKey": {"apiKeySecurityScheme": {"location": "header", "name": "Api-Key"}},
        },
        "securityRequirements": [
            {"schemes": {"bearer": {"list": []}}},
            {"schemes": {"apiKey": {"list": []}}},
        ],
        "defaultInputModes": modes,
        "defaultOutputModes": ["text/markdown", "application/json", "application/octet-stream"],
        "skills": [skill],
    }


def extended_card(application: ResolvedApplication, name: str) -> Json:
    """Return the card with example questions, which only callers with a key receive."""
    card = agent_card(application, name)
    [skill] = card["skills"]
    examples = starters(application)
    return {**card, "skills": [{**skill, "examples": examples} if examples else skill]}


def starters(application: ResolvedApplication) -> list[str]:
    manifest = application.manifest
    if manifest.conversation_starters is not None:
        return [one.text for one in manifest.conversation_starters.starters]
    return list(manifest.starters or ())


def interface(address: str, binding: str) -> Json:
    return {"url": address, "protocolBinding": binding, "protocolVersion": PROTOCOL_VERSION}


def input_modes(application: ResolvedApplication) -> list[str]:
    types = application.manifest.input_attachment_types or ("*/*",)
    return list(dict.fromkeys(("text/plain", "application/json", *types)))


def card_headers(body: bytes) -> tuple[Header, ...]:
    """Return headers that let only the client itself cache the card, because the card depends on
    the caller's key.
    """
    digest = hashlib.sha256(body).hexdigest()[:32]
    return (
        (b"content-type", b"application/json"),
        (b"cache-control", b"private, max-age=%d" % MAX_AGE_SECONDS),
        (b"vary", b"authorization, api-key"),
        (b"etag", b'"%b"' % digest.encode()),
    )


def encode_card(card: Json) -> bytes:
    return msgspec.json.encode(card)
