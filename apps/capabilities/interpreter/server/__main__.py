"""Serves the sandbox over MCP: `python -m apps.capabilities.interpreter.server [--port PORT]`.

With a port, it serves Streamable HTTP at `/mcp` on the loopback interface. Without one, it uses
stdio. The program uses no database, keys or settings of the site.
"""

import argparse
import socket

from apps.capabilities.interpreter.server.sessions import Sessions
from apps.capabilities.interpreter.server.tools import interpreter_server


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m apps.capabilities.interpreter.server")
    parser.add_argument("--port", type=int, help="Serve HTTP on this port; 0 chooses a free one.")
    port = parser.parse_args().port
    server = interpreter_server(Sessions())
    if port is None:
        server.run("stdio")
        return
    import uvicorn  # Not needed over stdio.

    listening = socket.create_server(("127.0.0.1", port))
    print(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", flush=True)  # noqa: T201 - its output
    config = uvicorn.Config(server.streamable_http_app(), log_level="warning")
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    main()
