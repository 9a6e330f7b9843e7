"""Serves the sandbox over MCP: `python -m apps.capabilities.interpreter.server [--port PORT]`.

Over stdio, or over Streamable HTTP at `/mcp` of the loopback address if a port is given. The program
has nothing of the site in it: no database, no keys, and of the settings the limits of the sandbox,
which it reads from the environment under their names.
"""

import argparse
import os
import socket

from django.conf import settings


def configure() -> None:
    settings.configure(
        PY_INTERPRETER_SANDBOX_SECONDS=float(os.environ.get("PY_INTERPRETER_SANDBOX_SECONDS", 10)),
        PY_INTERPRETER_SANDBOX_MEMORY_MB=int(
            os.environ.get("PY_INTERPRETER_SANDBOX_MEMORY_MB", 128)
        ),
        PY_INTERPRETER_SANDBOX_PROCESSES=int(os.environ.get("PY_INTERPRETER_SANDBOX_PROCESSES", 0)),
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m apps.capabilities.interpreter.server")
    parser.add_argument("--port", type=int, help="Serve HTTP on this port; 0 takes a free one.")
    port = parser.parse_args().port
    configure()
    from apps.capabilities.interpreter.server.sessions import Sessions
    from apps.capabilities.interpreter.server.tools import interpreter_server

    server = interpreter_server(Sessions())
    if port is None:
        server.run("stdio")
        return
    import uvicorn

    listening = socket.create_server(("127.0.0.1", port))
    print(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", flush=True)  # noqa: T201 - its output
    config = uvicorn.Config(server.streamable_http_app(), log_level="warning")
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    main()
