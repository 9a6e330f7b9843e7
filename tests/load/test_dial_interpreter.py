"""Calls of DIAL's interpreter are canceled like all other calls."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.capabilities.interpreter.dial_interpreter import dial_interpreter
from tests.capabilities.interpreter.tools import python

PATIENCE = 45.0
"""The interpreter never answers; its timeout is much longer."""


@pytest.mark.parametrize("operation", ["open_session", "execute_code"])
async def test_the_interpreter_is_left_when_its_caller_is_cancelled(operation: str, settings: Any):
    async with dial_interpreter(settings, scripted={operation: [None]}) as dial, python() as tool:
        assert dial.service is not None
        calling = asyncio.ensure_future(tool.call("1 + 1"))
        async with asyncio.timeout(PATIENCE):
            while operation not in dial.operations:
                dial.service.asked.clear()
                await dial.service.asked.wait()
        assert not dial.service.left.is_set()

        calling.cancel()
        async with asyncio.timeout(PATIENCE):
            await dial.service.left.wait()
        await asyncio.wait([calling])

    assert calling.cancelled()
