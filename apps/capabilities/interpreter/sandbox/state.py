"""Packs and signs the sandbox state, which the conversation stores between calls.

Clients could manipulate the state to attack the interpreter. It is therefore loaded only if this
installation signed it for this caller.
"""

import base64
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pydantic_monty
from django.core.signing import BadSignature, Signer

from apps.accounts.caller import Caller
from apps.agent.messages import ModelMessage
from apps.capabilities.interpreter.sandbox import workers

KEY = "py_interpreter_sandbox"
MOST_BYTES = 131_072
"""The size limit for the packed state, in bytes. It is low, because each answer that has run code
contains the state.
"""
PACKING = 20
"""A state that exceeds `MOST_BYTES` by more than this factor is rejected before it is packed."""
MOST_UNPACKED_BYTES = 256 * 1024 * 1024


class StateUnusable(Exception):
    """Raised if the state cannot be stored or loaded. The model receives the message."""


def fingerprint() -> str:
    """Return the interpreter's version and limits. A stored state is valid only with the same
    fingerprint.
    """
    return f"{pydantic_monty.__version__}/{workers.CODE_SECONDS:g}s/{workers.MEMORY_MB}MB"


def signer(caller: Caller, made_by: str) -> Signer:
    return Signer(salt=f"apps.capabilities.interpreter|{made_by}|{caller.bucket}")


def write_state(content: bytes, caller: Caller) -> dict[str, str]:
    """Pack and sign the state. Raises `StateUnusable` if it is too large."""
    too_large = StateUnusable(
        f"The variables are too large to be stored (more than {MOST_BYTES} bytes packed), so the "
        "next call starts without those of this one. Store less in variables, or write it to a "
        "file."
    )
    if len(content) > PACKING * MOST_BYTES:
        raise too_large
    packed = base64.b64encode(zlib.compress(content)).decode()
    if len(packed) > MOST_BYTES:
        raise too_large
    made_by = fingerprint()
    return {"made_by": made_by, "state": signer(caller, made_by).sign(packed)}


def read_state(written: Any, caller: Caller) -> bytes | None:
    """Verify and unpack a state, or return None if there is none.

    Raises `StateUnusable` if this installation did not sign it for this caller, or if it is
    damaged.
    """
    if not isinstance(written, Mapping) or not written.get("state"):
        return None
    made_by, text = fingerprint(), written["state"]
    if written.get("made_by") != made_by:
        raise StateUnusable(
            "The interpreter has changed since the last call, so variables and functions of "
            "earlier calls are lost. Define them again."
        )
    try:
        packed = signer(caller, made_by).unsign(str(text))
        return unpack(base64.b64decode(packed, validate=True))
    except (BadSignature, ValueError, zlib.error) as error:
        raise StateUnusable(
            "The state of earlier calls cannot be loaded, so their variables and functions are "
            "lost. Define them again."
        ) from error


async def hide_state(messages: Sequence[ModelMessage]) -> Sequence[ModelMessage]:
    """Remove stored states from the messages for the model, because the model cannot use them."""
    return [
        replace(m, state={k: v for k, v in m.state.items() if k != KEY}) if KEY in m.state else m
        for m in messages
    ]


def unpack(packed: bytes) -> bytes:
    unpacker = zlib.decompressobj()
    content = unpacker.decompress(packed, MOST_UNPACKED_BYTES)
    if not unpacker.eof:
        raise zlib.error("the packed state is incomplete or too large")
    return content
