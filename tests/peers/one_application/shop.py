"""One application with a REST tool, an MCP tool that needs approval, a question, and files.

Its model calls both tools in parallel, asks which color the user wants, and answers with what it
received. The MCP tool returns a picture, which becomes a file of the answer.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.capabilities.manifests import parameter, tool, tool_set
from tests.capabilities.mcp.servers import over_http, serving_apart
from tests.capabilities.mcp.well_behaved import PIXEL
from tests.peers.upstream import Handler
from tests.sites.gateway import MANIFEST, Gateway, serve_gateway

ToolCall = tuple[str, dict[str, Any]]
"""A name and arguments."""

SLUG = "shop"
FILE_NAME = "order.txt"
ORDER = base64.b64encode(b"Two boxes.").decode()
PICTURE = PIXEL
SELL = "Sell it"
"""After this question, the model uses everything that the application has."""
QUESTION = {
    "question": "Which colour?",
    "input_type": "single-select",
    "options": [{"label": "Red"}, {"label": "Blue"}],
    "allow_freeform": False,
}
ANSWER = f'{FILE_NAME} | {{"stock": 7}} | first | The user chose: "Red"'
"""The last answer, with the file's name and the first line of each result."""
FEATURES: dict[str, Any] = {"questions": {}, "timestamp": None}
STOCK: ToolCall = "shop_stock", {"city": "Oslo"}
SHOW: ToolCall = "desk_show", {}
ASK: ToolCall = "internal_ask_question", QUESTION
PREPARE = """
from apps.accounts.models import ApiKey
from apps.catalog.models import Application
application = Application.objects.create(
    slug=slug, title="Shop", manifest=manifest, is_public=True, is_shared=True
)
row, result = ApiKey.objects.create_key(name="shop", is_limited=True)
row.applications.set([application])
"""


@dataclass(frozen=True, slots=True)
class Shop:
    """The served application. `key` can use only it."""

    gateway: Gateway
    key: str

    @property
    def url(self) -> str:
        return self.gateway.url


@dataclass(frozen=True, slots=True)
class Conversation:
    """The texts that a client has received: an approval, a question, an answer; and the files."""

    texts: tuple[str, ...]
    files: tuple[bytes, ...] = ()


def read_files(shop: Shop, paths: Sequence[str]) -> tuple[bytes, ...]:
    """Download stored files by their path, with the client's key."""
    headers = {"Api-Key": shop.key}
    found = [httpx.get(f"{shop.url}/v1/{path}", headers=headers, timeout=60) for path in paths]
    return tuple(one.raise_for_status().content for one in found)


class ShopHandler(Handler):
    """The model, and the stock that the REST tool reads."""

    def do_POST(self) -> None:  # noqa: N802 - a name of http.server
        if not self.path.endswith("/stock"):
            super().do_POST()
            return
        self.rfile.read(int(self.headers["content-length"]))
        body = json.dumps({"stock": 7}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def wish(self, body: dict[str, Any]) -> list[str]:
        """Return the words of the last question without its files."""
        return last_question(body).split() or ["nothing"]

    def answer(self, body: dict[str, Any], words: list[str]) -> None:
        results = results_after_sale(body)
        if results is None:
            super().answer(body, words)
        elif len(results) < 2:
            self.call_tools(STOCK, SHOW)
        elif len(results) < 3:
            self.call_tools(ASK)
        else:
            attached = [FILE_NAME] if FILE_NAME in json.dumps(body["messages"]) else []
            self.say({"content": " | ".join([*attached, *results])})
            self.finish_answer("stop")

    def call_tools(self, *calls: ToolCall) -> None:
        number = len(self.upstream.asked)
        self.say(
            {
                "tool_calls": [
                    {
                        "index": index,
                        "id": f"call-{number}-{index}",
                        "type": "function",
                        "function": {"name": name, "arguments": json.dumps(arguments)},
                    }
                    for index, (name, arguments) in enumerate(calls)
                ]
            }
        )
        self.finish_answer("tool_calls")


def text_of(message: dict[str, Any]) -> str:
    content = message["content"]
    parts = [{"text": content}] if isinstance(content, str) else content
    return " ".join(part.get("text", "") for part in parts)


def is_result(message: dict[str, Any]) -> bool:
    """Return True for the result of a call that the model made, and False for an injected one."""
    return message["role"] == "tool" and not message["tool_call_id"].startswith("synth_")


def last_question(body: dict[str, Any]) -> str:
    return [text_of(message) for message in body["messages"] if message["role"] == "user"][-1]


def results_after_sale(body: dict[str, Any]) -> list[str] | None:
    """Return the first lines of the results since the sale began; None before a sale."""
    found: list[str] | None = None
    for message in body["messages"]:
        if message["role"] == "user" and SELL in text_of(message):
            found = []
        elif found is not None and is_result(message):
            found.append(str(message["content"]).partition("\n")[0])
    return found


def manifest_of(stock_url: str, mcp_url: str) -> dict[str, Any]:
    stock = tool(f"{stock_url}/stock", "post", {"city": parameter("body", "city")})
    stock["open_ai_tool"]["function"]["name"] = "stock"
    desk = over_http(mcp_url, approval={"mode": "confirm"})
    return {**MANIFEST, "tool_sets": [tool_set(stock), desk], "features": FEATURES}


@contextmanager
def serve_shop(folder: Path) -> Iterator[Shop]:
    with serving_apart("http") as mcp_url, serve_gateway(folder, ShopHandler) as gateway:
        manifest = manifest_of(gateway.upstream.url, mcp_url)
        yield Shop(gateway, gateway.site.shell(PREPARE, slug=SLUG, manifest=manifest))
