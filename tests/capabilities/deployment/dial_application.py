"""An application made with DIAL's SDK that returns what it receives.

`python -m tests.capabilities.deployment.dial_application` serves it on a free loopback port and
prints the port.
"""

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from aidial_sdk import DIALApp, HTTPException
from aidial_sdk.chat_completion import ChatCompletion, Request, Response

NAME = "counter"


class Counter(ChatCompletion):
    """Counts the turns of a conversation in its state. The message "fail" makes it fail."""

    async def chat_completion(self, request: Request, response: Response) -> None:
        asked = str(request.messages[-1].content)
        if asked == "fail":
            raise HTTPException("detail", status_code=422, display_message="Ask something else.")
        states = [m.custom_content.state for m in request.messages if m.custom_content]
        count = next((int(state["count"]) for state in reversed(states) if state), 0) + 1
        with response.create_single_choice() as choice:
            with choice.create_stage("Reading") as stage:
                stage.append_content(asked)
                with stage.create_stage() as inner:
                    inner.add_attachment(type="text/plain", title="Note", data="n")
            choice.append_content(json.dumps(told(request, count)))
            choice.add_attachment(type="image/png", title="Chart", url="files/x/chart.png")
            choice.set_state({"count": count})
        response.set_usage(10, 2)
        response.add_usage_per_model("inner-model", 7, 1)


def told(request: Request, count: int) -> dict[str, object]:
    content = request.messages[-1].custom_content
    attachments = (content.attachments if content is not None else None) or []
    fields = request.custom_fields
    return {
        "count": count,
        "roles": [message.role for message in request.messages],
        "attachments": [item.model_dump(exclude_none=True) for item in attachments],
        "configuration": fields.configuration if fields is not None else None,
        "tools": [tool.model_dump(exclude_none=True) for tool in request.tools or ()],
        "headers": sorted(name for name in request.headers if name.startswith("x-t")),
    }


@contextmanager
def serve() -> Iterator[str]:
    """Serve it within the block. Yields the address of the deployment."""
    command = [sys.executable, "-m", "tests.capabilities.deployment.dial_application"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            port = int(process.stdout.readline())
            yield f"http://127.0.0.1:{port}/openai/deployments/{NAME}"
        finally:
            process.terminate()
            process.wait(60)


def main() -> None:
    application = DIALApp()
    application.add_chat_completion(NAME, Counter())
    listening = socket.create_server(("127.0.0.1", 0))
    print(listening.getsockname()[1], flush=True)  # noqa: T201 - this is how the port is told
    uvicorn.Server(uvicorn.Config(application, log_level="error")).run([listening])


if __name__ == "__main__":
    main()
