"""The server as a program, over both of its transports."""

import os
import subprocess
import sys
from typing import Any

from django.conf import settings
from mcp import Client, StdioServerParameters

MODULE = ["-m", "apps.capabilities.interpreter.server"]
NOTHING = {"PATH": ""}


async def result_of(server: Any) -> object:
    async with Client(server) as client:
        tools = (await client.list_tools()).tools
        assert "10 seconds and 128 MB" in (tools[0].description or "")
        answer = await client.call_tool("execute_code", {"code": "import os\nos.environ"})
    assert answer.structured_content is not None
    return answer.structured_content["result"]


async def test_it_speaks_over_stdio():
    server = StdioServerParameters(
        command=sys.executable, args=MODULE, env=NOTHING, cwd=str(settings.BASE_DIR)
    )

    assert await result_of(server) == "{}"


async def test_it_speaks_over_http_on_the_loopback_address():
    program = subprocess.Popen(
        [sys.executable, *MODULE, "--port", "0"],
        env={**NOTHING, "HOME": os.environ.get("HOME", "/")},
        cwd=settings.BASE_DIR,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert program.stdout is not None
    try:
        url = program.stdout.readline().strip()
        result = await result_of(url)
    finally:
        program.kill()
        program.communicate()

    assert url.startswith("http://127.0.0.1:")
    assert result == "{}"
