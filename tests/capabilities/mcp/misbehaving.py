"""MCP servers over stdio that start fast and misbehave in one way each.

python misbehaving.py WAY
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

TOOL = {"name": "act", "description": "Acts.", "inputSchema": {"type": "object"}}
ENDLESS = {
    "$ref": "#/$defs/node",
    "$defs": {"node": {"properties": {"next": {"$ref": "#/$defs/node"}}}},
}

WAY = sys.argv[1] if len(sys.argv) > 1 else ""
FINE = {"result": {"content": [{"type": "text", "text": "Fine."}]}}
calls: list[int] = []


def send(message: dict[str, Any]) -> None:
    written: Any = {"jsonrpc": "2.0", **message}
    if WAY == "batches":
        note = {"level": "info", "data": "again"}
        written = [written, {"jsonrpc": "2.0", "method": "notifications/message", "params": note}]
    elif WAY == "float ids":
        written["id"] = float(written["id"])
    sys.stdout.write(json.dumps(written) + "\n")
    sys.stdout.flush()


def tools(way: str) -> list[dict[str, Any]]:
    if way == "half a pair":
        return [TOOL, {**TOOL, "name": "plain"}]
    if way == "many tools":
        return [{**TOOL, "name": f"act{number}"} for number in range(3000)]
    if way == "bad schema":
        bad = {"type": "object", "properties": {"a": {"type": "banana"}}}
        huge = {"type": "object", "properties": {str(n): {"type": "string"} for n in range(6000)}}
        nested = {**TOOL, "name": "nested", "inputSchema": {"type": "object", **ENDLESS}}
        return [
            {**TOOL, "name": "bad", "inputSchema": bad},
            {**TOOL, "name": "huge", "inputSchema": huge},
            nested,
            TOOL,
        ]
    return [TOOL]


def call(way: str, id: int, name: str) -> None:
    calls.append(id)
    match way:
        case "dies":
            sys.stderr.write("I had 1 secret\n")
            sys.exit(3)
        case "hangs":
            return
        case "floods":
            while True:
                note = {"level": "info", "data": "again"}
                send({"method": "notifications/message", "params": note})
        case "huge result":
            text = {"type": "text", "text": "x" * 20_000_000}
            send({"id": id, "result": {"content": [text]}})
        case "children":
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
            text = {"type": "text", "text": str(child.pid)}
            send({"id": id, "result": {"content": [text]}})
        case "environment":
            text = {"type": "text", "text": json.dumps([sorted(os.environ), str(Path.cwd())])}
            send({"id": id, "result": {"content": [text]}})
        case _:
            number = {"type": "text", "text": str(len(calls))}
            half = {"type": "text", "text": "plain" if name == "plain" else "\ud83d cut"}
            answers: dict[str, Any] = {
                "counts": {"result": {"content": [number]}},
                "bare result": {"result": ["a", 1]},
                "bare error": {"error": "It is broken."},
                "batches": FINE,
                "float ids": FINE,
                "half a pair": {"result": {"content": [half]}},
                "nonsense": {"result": {"content": "nothing like a list"}},
            }
            refusal = {"error": {"code": -32000, "message": "refused"}}
            send({"id": id, **answers.get(way, refusal)})


def main(way: str) -> None:
    for line in sys.stdin:
        message = json.loads(line)
        id = message.get("id")
        match message.get("method"):
            case "initialize":
                if way == "silent":
                    continue
                capabilities: dict[str, Any] = {} if way == "no tools" else {"tools": {}}
                version = message["params"]["protocolVersion"]
                if way == "old version":
                    version = "1999-01-01"
                info = {"name": "wrong", "version": "1"}
                result = {"protocolVersion": version, "capabilities": capabilities}
                send({"id": id, "result": {**result, "serverInfo": info}})
            case "tools/list":
                cursor = {"nextCursor": "more"} if way == "endless list" else {}
                send({"id": id, "result": {"tools": tools(way), **cursor}})
            case "tools/call":
                call(way, id, message["params"]["name"])
            case _:
                pass


if __name__ == "__main__":
    main(WAY)
