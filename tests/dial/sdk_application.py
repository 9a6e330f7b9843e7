"""An application made with DIAL's SDK that stores files in Core.

    python -m tests.dial.sdk_application CORE

It listens on a free loopback port and prints the port.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import uvicorn
from aidial_sdk import DIALApp, HTTPException
from aidial_sdk.chat_completion import ChatCompletion, Request, Response

from tests.sites.fork_server import serving

NAME = "reporter"
HEARTBEAT_SECONDS = 0.05
SILENCE_SECONDS = 0.5


class Reporter(ChatCompletion):
    """Writes a report, numbers it by its state, and pauses. The message "break" makes it fail."""

    def __init__(self, core: str) -> None:
        self.core = core

    async def chat_completion(self, request: Request, response: Response) -> None:
        asked = str(request.messages[-1].content)
        states = [m.custom_content.state for m in request.messages if m.custom_content]
        count = next((int(state["count"]) for state in reversed(states) if state), 0) + 1
        with response.create_single_choice() as choice:
            choice.append_content(f"Report {count}")
            if asked == "break":
                raise HTTPException("detail", status_code=409, display_message="It tore.")
            with choice.create_stage("Writing") as stage:
                stage.append_content(f"about {asked}")
                await asyncio.sleep(SILENCE_SECONDS)
            url = await self.keep(request.api_key, f"report {count}.png")
            choice.add_attachment(type="image/png", title=f"Report {count}", url=url)
            choice.set_state({"count": count, "rows": [{"index": 5}, {"index": 9}]})
        response.set_usage(10, 2)
        response.add_usage_per_model("press", 10, 2)

    async def keep(self, key: str, name: str) -> str:
        """Store it where the user of the request finds it."""
        async with httpx.AsyncClient(
            base_url=self.core, headers={"Api-Key": key}, timeout=60
        ) as core:
            folder = (await core.get("/v1/bucket")).json()["appdata"]
            files = {"file": (name, b"png", "image/png")}
            stored = await core.put(f"/v1/files/{folder}/{name}", files=files)
            return str(stored.raise_for_status().json()["url"])


@contextmanager
def serve(core: str) -> Iterator[str]:
    """Serve it within the block. Yields the address of its completions."""
    with serving("tests.dial.sdk_application", core) as port:
        yield f"http://127.0.0.1:{port}/openai/deployments/{NAME}/chat/completions"


def main(core: str) -> None:
    application = DIALApp()
    application.add_chat_completion(NAME, Reporter(core), heartbeat_interval=HEARTBEAT_SECONDS)
    listening = socket.create_server(("127.0.0.1", 0))
    print(listening.getsockname()[1], flush=True)  # noqa: T201 - this is how the port is told
    uvicorn.Server(uvicorn.Config(application, log_level="error")).run([listening])


if __name__ == "__main__":
    main(*sys.argv[1:])
