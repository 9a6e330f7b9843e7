"""The services in the example manifests: a harbour's web service, its MCP servers, and their
entries in Core."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from mcp.server import MCPServer
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from tests.capabilities.interpreter.dial_interpreter import PREFIX, Interpreter
from tests.capabilities.service import Seen
from tests.dial_core import Core
from tests.dial_core.mcp_server import guarded
from tests.dial_core.models import Answer, Body, Model
from tests.dial_core.serving import served

TOKEN = "crane-token"
PASS = b"%PDF-1.4 a gate pass"
EXPERTS = {
    "rag-tides": "High at six.",
    "interpreter-lv": "Labdien!",
    "weather-expert": "Calm.",
    "dial-rag": "On page 3.",
    "paper-reader": "The stamp is missing.",
    "digest-app": "In short: yes.",
    "gpt-image-1": "Here it is.",
    "gemini-2.5-pro-google-search": "The ferry is late.",
}
"""The constant answer of Core's deployments."""
SKILL = "---\nname: radio-phrases\ndescription: How ships are spoken to.\n---\nSay 'over'."
PROMPT = "You keep the harbour's papers. Today is {today}."


@dataclass(frozen=True, slots=True)
class Heard:
    """A request to the web service, with lower-case header names."""

    target: str
    headers: Mapping[str, str]
    body: bytes

    def told(self, *names: str) -> dict[str, str]:
        return {name: self.headers[name] for name in names}


@dataclass
class Harbour:
    """`urls` are by the hosts in the examples; `calls` are those of tools of MCP servers."""

    url: str = ""
    urls: dict[str, str] = field(default_factory=dict)
    logbook: str = ""
    shifts: str = ""
    heard: list[Heard] = field(default_factory=list)
    calls: list[tuple[Any, ...]] = field(default_factory=list)
    experts: dict[str, Model] = field(default_factory=dict)

    def reached(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """Return the document with its hosts on the loopback."""
        text = json.dumps(document)
        for host, url in self.urls.items():
            text = text.replace(f"https://{host}", url)
        moved: dict[str, Any] = json.loads(text)
        return moved

    def give(self, core: Core) -> Model:
        """Add the entries to a Core. Return the orchestrator's model of the examples."""
        core.put("prompts/public/clerk", prompt("You count in {unit}."), "application/json")
        core.put("prompts/public/radio-phrases", prompt(SKILL), "application/json")
        core.put("files/harbour/tide-tables.pdf", PASS, "application/pdf")
        core.put("files/harbour/charts/north.txt", b"Sand at 57 north.")
        core.add_skill(
            "skills/public/mooring",
            {
                "SKILL.md": b"---\nname: mooring\ndescription: How ships are tied.\n---\nTwo lines.",
                "knots.md": b"A bowline.",
            },
        )
        core.add_toolset("toolsets/public/shifts", self.shifts, displayName="Shifts")
        tools: dict[str, Any] = {
            "mcp": {"endpoint": self.logbook},
            "features": {"mcpSupported": True},
        }
        core.add_application("logbook-app", None, **tools)
        customs = f"{self.url}/customs/chat/completions"
        core.add_application("applications/public/customs-clerk", customs)
        for name, words in EXPERTS.items():
            always = partial(saying, words)
            self.experts[name] = core.add_model(name, always, inputAttachmentTypes=["*/*"])
        return core.add_model("harbour-chat", [], inputAttachmentTypes=["*/*"])


def saying(words: str, body: Body) -> Answer:
    return [{"text": words}]


def prompt(content: str) -> bytes:
    fields = {"id": "prompts/x", "name": "x", "folderId": "prompts", "content": content}
    return json.dumps(fields).encode()


def tools_of(body: Body) -> list[str]:
    return [tool["function"]["name"] for tool in body.get("tools", ())]


def system_of(body: Body) -> str:
    first = body["messages"][0]
    return str(first["content"]) if first["role"] == "system" else ""


def web_service(harbour: Harbour) -> Starlette:
    async def hear(request: Request) -> None:
        target = request.scope["raw_path"].decode()
        target += f"?{request.url.query}" if request.url.query else ""
        harbour.heard.append(Heard(target, dict(request.headers), await request.body()))

    async def ship(request: Request) -> Response:
        await hear(request)
        return JSONResponse({"berth": 7, "ship": request.path_params["ship"]})

    async def gate_pass(request: Request) -> Response:
        await hear(request)
        return Response(PASS, media_type="application/pdf")

    async def token(request: Request) -> Response:
        await hear(request)
        return JSONResponse({"access_token": TOKEN, "token_type": "Bearer", "expires_in": 60})

    async def tides(request: Request) -> Response:
        await hear(request)
        return PlainTextResponse("High water at six.")

    interpreter = Interpreter()

    async def run_code(request: Request) -> Response:
        seen = Seen(request.method, request.url.path, request.headers, await request.body())
        reply = await interpreter.reply(seen)
        return Response(reply.body, reply.status, dict(reply.headers))

    async def customs(request: Request) -> Response:
        delta = {"role": "assistant", "content": "Nothing to declare."}
        choice = {"index": 0, "delta": delta, "finish_reason": "stop"}
        chunk = {"id": "1", "object": "chat.completion.chunk", "choices": [choice]}
        text = f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n"
        return Response(text, media_type="text/event-stream")

    return Starlette(
        routes=[
            Route("/customs/chat/completions", customs, methods=["POST"]),
            Route(f"{PREFIX}{{operation}}", run_code, methods=["POST"]),
            Route("/v1/ships/{ship:path}", ship),
            Route("/v1/passes", gate_pass, methods=["POST"]),
            Route("/token", token, methods=["POST"]),
            Route("/tides", tides),
        ]
    )


def cranes(harbour: Harbour) -> MCPServer:
    server = MCPServer("cranes", log_level="CRITICAL")

    @server.tool(description="Which cranes are free.")
    def free_cranes(day: str) -> str:
        harbour.calls.append(("free_cranes", day))
        return "Crane 4."

    @server.tool(description="Books a crane.")
    def book(crane: int) -> str:
        return f"Crane {crane} is booked."

    @server.tool(description="Takes a crane down.")
    def dismantle(crane: int) -> str:
        return f"Crane {crane} is gone."

    @server.resource("urn:cranes:rules", name="rules", mime_type="text/plain")
    def rules() -> str:
        return "Nobody stands below."

    @server.resource("urn:cranes:prices", name="prices", mime_type="text/plain")
    def prices() -> str:
        return "Ten an hour."

    return server


def shifts(harbour: Harbour) -> MCPServer:
    server = MCPServer("shifts", log_level="CRITICAL")

    @server.tool(description="Who works at an hour.")
    def who_works(hour: int) -> str:
        harbour.calls.append(("who_works", hour))
        return "Ilze."

    @server.tool(description="Changes places.")
    def swap(one: str, other: str) -> str:
        return f"{one} for {other}."

    return server


def logbook(harbour: Harbour) -> MCPServer:
    server = MCPServer("logbook", log_level="CRITICAL")

    @server.tool(name="open", description="Opens the book.")
    def open_book(page: str) -> str:
        harbour.calls.append(("open", page))
        return "The book is open."

    @server.tool(description="Writes into the book.")
    def note(last: list[dict[str, Any]], rounds: int) -> str:
        harbour.calls.append(("note", [one["role"] for one in last], rounds))
        return "Noted."

    @server.tool(description="Looks a word up.")
    def look_up(word: str) -> str:
        harbour.calls.append(("look_up", word))
        return f"{word}: page 3."

    return server


@contextmanager
def serve_harbour() -> Iterator[Harbour]:
    harbour = Harbour()
    with (
        served(web_service(harbour)) as web,
        served(
            guarded(cranes(harbour).streamable_http_app(), "Authorization", f"Bearer {TOKEN}")
        ) as at_cranes,
        served(shifts(harbour).streamable_http_app()) as at_shifts,
        served(logbook(harbour).streamable_http_app()) as at_logbook,
    ):
        harbour.url = web
        harbour.urls |= {
            "berths.example.org": web,
            "login.example.net": web,
            "cranes.example.net": at_cranes,
        }
        harbour.shifts, harbour.logbook = f"{at_shifts}/mcp", f"{at_logbook}/mcp"
        yield harbour
