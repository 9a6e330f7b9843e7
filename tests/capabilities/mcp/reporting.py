"""An MCP server over stdio that runs no code and sends wrong execution reports.

python reporting.py

The code in the call selects the kind of error.
"""

import base64
import json
import sys
from typing import Any

SCHEMA = {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]}
TOOL = {"name": "execute_code", "description": "Runs code.", "inputSchema": SCHEMA}
NAMES = {"wrong type": ["plot.png"], "upwards": ["../x.csv", "a\\b.csv", "/x.csv", "good.csv"]}
late: list[int] = []


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def listed(name: str) -> dict[str, Any]:
    kind = "image/png" if name.endswith(".png") else "text/csv"
    return {"uri": f"kernel://s/{name}", "name": name, "mime_type": kind, "size": 3}


def report(way: str) -> dict[str, Any]:
    names = ["gone.csv", "kept.csv"] if way == "missing" else NAMES.get(way, [])
    return {
        "success": way != "over the limit",
        "output": ["x" * 250, "short"],
        "result": way,
        "error": "TimeoutError: stopped" if way == "over the limit" else None,
        "traceback": [],
        "files": [listed(name) for name in names],
        "session_info": {"session_id": "s", "instructions": "Go on."},
    }


def answer(id: int, way: str) -> None:
    content = [{"type": "text", "text": json.dumps(report(way))}]
    if way == "dead":
        text = "SessionExpired: there is no session 's'."
        send({"id": id, "result": {"content": [{"type": "text", "text": text}], "isError": True}})
    elif way == "plain":
        send({"id": id, "result": {"content": [{"type": "text", "text": "[1, 2]"}]}})
    else:
        send({"id": id, "result": {"content": content}})


def call(message: dict[str, Any]) -> None:
    params = message["params"]
    if params["arguments"]["code"] == "late":
        late.append(message["id"])
        token = params["_meta"]["progressToken"]
        note = {"progressToken": token, "progress": 0, "message": "working"}
        send({"method": "notifications/progress", "params": note})
        return
    while late:
        answer(late.pop(), "late")
    answer(message["id"], params["arguments"]["code"])


def read(message: dict[str, Any]) -> None:
    uri = message["params"]["uri"]
    if "gone" in uri:
        send({"id": message["id"], "error": {"code": -32602, "message": "no such file"}})
        return
    blob = base64.b64encode(b"abc").decode()
    content = {"uri": uri, "mimeType": "text/plain", "blob": blob}
    send({"id": message["id"], "result": {"contents": [content]}})


for line in sys.stdin:
    asked = json.loads(line)
    match asked.get("method"):
        case "initialize":
            result = {
                "protocolVersion": asked["params"]["protocolVersion"],
                "capabilities": {"tools": {}, "resources": {}},
                "serverInfo": {"name": "reporting", "version": "1"},
            }
            send({"id": asked["id"], "result": result})
        case "tools/list":
            send({"id": asked["id"], "result": {"tools": [TOOL]}})
        case "tools/call":
            call(asked)
        case "resources/read":
            read(asked)
        case _:
            pass
