"""Static files are served over ASGI, whole and in parts."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from django.contrib.staticfiles import finders
from django.test import AsyncClient

STYLES = "chat/styles/tokens.css"


async def answer(method: str = "get", **headers: str) -> Any:
    return await getattr(AsyncClient(), method)(f"/static/{STYLES}", headers=headers)


async def test_a_file_is_served_whole_in_part_and_not_again():
    path = finders.find(STYLES)
    assert path is not None
    expected = await asyncio.to_thread(Path(path).read_bytes)

    whole, head = await answer(), await answer("head")
    part = await answer(Range="bytes=2-5")
    beyond = await answer(Range="bytes=99999999-")
    known = await answer(**{"If-None-Match": whole["ETag"]})
    refused = await answer("post")

    assert (whole.status_code, whole.content) == (200, expected)
    assert whole["Content-Type"] == 'text/css; charset="utf-8"'
    assert (part.status_code, part.content) == (206, expected[2:6])
    found = [(one.status_code, one.content) for one in (head, beyond, known, refused)]
    assert found == [(200, b""), (416, b""), (304, b""), (405, b"")]
    assert head["Content-Length"] == str(len(expected))
