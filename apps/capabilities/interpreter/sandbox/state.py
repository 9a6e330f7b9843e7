"""The sandbox between two calls: its bytes, packed, signed, and carried by the conversation.

The bytes travel through the client, and the interpreter trusts bytes that it loads, so only those
are loaded that this installation signed for this caller.
"""

import base64
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pydantic_monty
from django.conf import settings
from django.core.signing import BadSignature, Signer

from apps.accounts.caller import Caller
from apps.agent.messages import Message

KEY = "py_interpreter_sandbox"
PACKING = 20
"""What is more than so many times too large before it is packed is not packed at all."""
MOST_UNPACKED_BYTES = 256 * 1024 * 1024


class StateUnusable(Exception):
    """The text tells the model why it starts anew."""


def fingerprint() -> str:
    """A state depends on this, and brings its own limits along."""
    return (
        f"{pydantic_monty.__version__}"
        f"/{settings.PY_INTERPRETER_SANDBOX_SECONDS:g}s"
        f"/{settings.PY_INTERPRETER_SANDBOX_MEMORY_MB}MB"
    )


def signer(caller: Caller, made_by: str) -> Signer:
    return Signer(salt=f"apps.capabilities.interpreter|{made_by}|{caller.bucket}")


def write_state(content: bytes, caller: Caller) -> dict[str, str]:
    """Raises `StateUnusable` when there is too much of it."""
    limit = settings.PY_INTERPRETER_SANDBOX_STATE_BYTES
    too_large = StateUnusable(
        f"The variables are too large to be kept (more than {limit} bytes packed), so the next "
        "call starts without those of this one. Keep less in variables, or write it to a file."
    )
    if len(content) > PACKING * limit:
        raise too_large
    packed = base64.b64encode(zlib.compress(content)).decode()
    if len(packed) > limit:
        raise too_large
    made_by = fingerprint()
    return {"made_by": made_by, "state": signer(caller, made_by).sign(packed)}


def read_state(written: Any, caller: Caller) -> bytes | None:
    """The bytes; None when there are none. Raises `StateUnusable`."""
    if not isinstance(written, Mapping) or not written.get("state"):
        return None
    made_by, text = fingerprint(), written["state"]
    if written.get("made_by") != made_by:
        raise StateUnusable(
            "The interpreter has changed since the last call, so it starts anew: variables and "
            "functions of earlier calls are gone. Define them again."
        )
    try:
        packed = signer(caller, made_by).unsign(str(text))
        return unpack(base64.b64decode(packed, validate=True))
    except (BadSignature, ValueError, zlib.error) as error:
        raise StateUnusable(
            "What earlier calls left behind cannot be used, so the interpreter starts anew: "
            "variables and functions of earlier calls are gone. Define them again."
        ) from error


async def hide_state(messages: Sequence[Message]) -> Sequence[Message]:
    """A model has no use for it."""
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
