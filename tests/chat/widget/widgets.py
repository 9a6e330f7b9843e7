"""Widgets of applications, and identities that another site signs."""

from __future__ import annotations

import time
from typing import Any
from uuid import uuid4

import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from django.test import Client

from apps.catalog.models import Application, Widget
from tests.catalog.rows import store_application
from tests.chat.scripts import MANIFEST

SHOP = "https://shop.example"
KEY = "a-key-of-the-widget-with-enough-characters"


def add_widget(origins: tuple[str, ...] = (SHOP,), key: str = KEY, **fields: Any) -> Widget:
    """Store a public application with a widget. `fields` are of the application."""
    given = {"slug": f"demo-{uuid4().hex[:8]}", "title": "Demo", "is_public": True}
    application: Application = store_application(**{**given, "manifest": MANIFEST, **fields})
    return Widget.objects.create(
        application=application, is_enabled=True, origins=[*origins], identity_key=key
    )


def sign(widget: Widget, key: str = KEY, algorithm: str = "HS256", **claims: Any) -> str:
    """Return an identity of the user Ada. A claim of None is left out."""
    given = {
        "sub": "ada",
        "aud": widget.application.slug,
        "exp": int(time.time()) + 60,
        "jti": uuid4().hex,
        **claims,
    }
    named = {name: value for name, value in given.items() if value is not None}
    return jwt.encode(named, key, algorithm=algorithm)


def key_pair() -> tuple[str, str]:
    """Return a new private and its public Ed25519 key, as PEM."""
    private = Ed25519PrivateKey.generate()
    written = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    public = private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return written.decode(), public.decode().strip()


def ask_token(widget: Widget, host: str = SHOP, **body: Any) -> Any:
    path = f"/widget/{widget.application.slug}/token/"
    return Client().post(path, {"host": host, **body}, content_type="application/json")


def token_of(widget: Widget, **body: Any) -> str:
    return str(ask_token(widget, **body).json()["token"])
