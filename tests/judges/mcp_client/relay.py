"""The command that the suite starts for each scenario. It passes the scenario to the driver and
waits for it."""

import json
import os
import socket
import sys

with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as driver:
    given = {name: os.environ[name] for name in os.environ if name.startswith("MCP_CONFORMANCE_")}
    driver.sendall(json.dumps({**given, "url": sys.argv[2]}).encode() + b"\n")
    outcome = driver.makefile().readline().strip()
sys.exit(None if outcome == "done" else outcome or "The driver hung up.")
