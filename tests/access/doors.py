"""Every door to an application, as a request and its answer.

A door answers for an application, or lists all that it would answer for.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from asgiref.sync import sync_to_async
from channels.auth import AuthMiddlewareStack
from channels.routing import URLRouter
from channels.testing import WebsocketCommunicator
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client as Browser
from django.urls import path, re_path

from apps.a2a.consumers import JsonRpcConsumer
from apps.accounts.authentication import authenticate
from apps.accounts.caller import Caller
from apps.ag_ui.routing import AgUiConsumer
from apps.chat.socket.consumer import ChatConsumer
from apps.errors import QuickAppError
from apps.gateway import routing as gateway
from apps.gateway.routing import CompletionConsumer
from apps.live.hub import Hub
from apps.mcp_server.consumers import McpConsumer
from apps.mcp_server.routing import MCP
from apps.messages.consumers import MessageConsumer
from apps.responses.consumers import ResponseConsumer
from apps.runs.workspaces import open_workspace
from apps.task_api.routing import TASKS
from apps.task_api.tasks import SubmitConsumer
from tests.access.askers import Asker
from tests.chat import scripts as chat_scripts
from tests.gateway.scripts import Client, ScriptedModel, ScriptedWorkspace, ends, says
from tests.mcp_server.scripts import call, headers_of, written

PATIENCE = 60.0
Answer = tuple[int, str]
Door = Callable[["House", Asker, str], Awaitable[Answer]]


class ReadyModel(ScriptedModel):
    """Gives the same answer to every question."""

    def __init__(self) -> None:
        super().__init__()

    async def stream(self, request: Any) -> Any:
        yield [says("12")]
        yield ends()


@dataclass(frozen=True, slots=True)
class House:
    """The doors of a process. Its models answer at once."""

    hub: Hub
    http: Any
    sockets: Any


def open_house() -> House:
    hub = Hub()
    paced: Any = ReadyModel()
    paged = chat_scripts.ScriptedWorkspace(paced)
    socket: Any = ChatConsumer.as_asgi(hub=hub, open_workspace=paged)
    submit = SubmitConsumer.as_asgi(hub=hub, open_workspace=paged)
    ask_agent = JsonRpcConsumer.as_asgi(hub=hub, open_workspace=paged)

    def scripted(consumer: type[Any]) -> Any:
        workspace = ScriptedWorkspace(ReadyModel())
        return consumer.as_asgi(open_workspace=workspace, recorded=hub.summaries.recorded)

    complete = scripted(CompletionConsumer)
    http = URLRouter(
        [
            re_path(rf"^{MCP}", scripted(McpConsumer)),
            re_path(r"^ag-ui/(?P<slug>[^/]+)$", scripted(AgUiConsumer)),
            re_path(r"^v1/responses$", scripted(ResponseConsumer)),
            re_path(r"^v1/messages$", scripted(MessageConsumer)),
            re_path(r"^openai/deployments/(?P<slug>[^/]+)/chat/completions$", complete),
            re_path(r"^v1/chat/completions$", complete),
            re_path(r"^a2a/(?P<slug>[^/]+)$", ask_agent),
            *gateway.urlpatterns,
            path(f"{TASKS}/SubmitMessage", AuthMiddlewareStack(submit)),
        ]
    )
    return House(hub, http, AuthMiddlewareStack(URLRouter([path("ws/chat/<slug:slug>/", socket)])))


async def request(
    house: House,
    asker: Asker,
    address: str,
    body: Any = None,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """Send a request to a consumer that is routed before Django."""
    sent = b"" if body is None else json.dumps(body).encode()
    method = "GET" if body is None else "POST"
    client = Client(
        house.http,
        address,
        method=method,
        headers={**asker.headers, **(headers or {})},
        client=asker.address,
    )
    await client.send(sent)
    answer = await client.read()
    return answer.status, answer.body.decode()


@sync_to_async
def page(asker: Asker, address: str, form: Mapping[str, Any] | None = None) -> Answer:
    """Send a request to Django, on the thread with the transaction of the test."""
    client = Browser(headers={**asker.headers})
    answer = client.get(address) if form is None else client.post(address, form)
    return answer.status_code, answer.text


async def chat_page(house: House, asker: Asker, slug: str) -> Answer:
    return await page(asker, f"/chat/{slug}/")


async def upload(house: House, asker: Asker, slug: str) -> Answer:
    form = {"conversation": str(uuid4()), "file": SimpleUploadedFile("a.txt", b"text")}
    return await page(asker, f"/chat/{slug}/files/", form)


async def socket(house: House, asker: Asker, slug: str) -> Answer:
    headers = [(b"cookie", asker.headers["cookie"].encode()), (b"host", b"localhost")]
    tab = WebsocketCommunicator(house.sockets, f"/ws/chat/{slug}/", headers)
    assert (await tab.connect(PATIENCE))[0]
    frame = {"type": "ask", "id": str(uuid4()), "text": "Hello", "conversation": None}
    await tab.send_json_to(frame)
    told = await tab.receive_from(PATIENCE)
    await tab.disconnect(timeout=PATIENCE)
    return (404 if json.loads(told)["type"] == "error" else 200), told


async def submission(house: House, asker: Asker, slug: str) -> Answer:
    body = {"application": slug, "text": "Hello"}
    return await request(house, asker, f"/{TASKS}/SubmitMessage", body)


QUESTION = {"messages": [{"role": "user", "content": "Hello"}]}


async def dial_completion(house: House, asker: Asker, slug: str) -> Answer:
    return await request(house, asker, f"/openai/deployments/{slug}/chat/completions", QUESTION)


async def openai_completion(house: House, asker: Asker, slug: str) -> Answer:
    return await request(house, asker, "/v1/chat/completions", {**QUESTION, "model": slug})


async def response(house: House, asker: Asker, slug: str) -> Answer:
    return await request(house, asker, "/v1/responses", {"input": "Hello", "model": slug})


async def message(house: House, asker: Asker, slug: str) -> Answer:
    body = {"max_tokens": 9, "messages": QUESTION["messages"], "model": slug}
    return await request(house, asker, "/v1/messages", body)


async def mcp_request(house: House, asker: Asker, method: str, params: Any, slug: str) -> Answer:
    headers = {**headers_of(method, params), **asker.headers}
    path = f"/mcp/{slug}" if slug else "/mcp"
    client = Client(house.http, path, method="POST", headers=headers, client=asker.address)
    await client.send(json.dumps(written(method, params)).encode())
    answer = await client.read()
    status = 404 if answer.status in (400, 404) else answer.status
    return status, answer.body.decode()


async def tool_call(house: House, asker: Asker, slug: str) -> Answer:
    return await mcp_request(house, asker, "tools/call", call(slug), "")


async def tool_server(house: House, asker: Asker, slug: str) -> Answer:
    return await mcp_request(house, asker, "tools/call", call(slug), slug)


async def tool_list(house: House, asker: Asker, slug: str) -> Answer:
    return await mcp_request(house, asker, "tools/list", {}, "")


async def agent(house: House, asker: Asker, slug: str) -> Answer:
    sent = {"messageId": "1", "role": "ROLE_USER", "parts": [{"text": "Hello"}]}
    call = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": sent}}
    return await request(house, asker, f"/a2a/{slug}", call, {"a2a-version": "1.0"})


async def ag_ui_run(house: House, asker: Asker, slug: str) -> Answer:
    messages = [{"id": "m", **message} for message in QUESTION["messages"]]
    body = {"threadId": "t", "runId": "r", "messages": messages}
    return await request(house, asker, f"/ag-ui/{slug}", body)


async def configuration(house: House, asker: Asker, slug: str) -> Answer:
    return await request(house, asker, f"/openai/deployments/{slug}/configuration")


async def model_entry(house: House, asker: Asker, slug: str) -> Answer:
    return await request(house, asker, f"/v1/models/{slug}")


async def nested(house: House, asker: Asker, slug: str) -> Answer:
    """Call it as a deployment of another application of the caller."""
    try:
        workspace = open_workspace(await caller_of_key(asker))
        found = await workspace.deployment(slug)
        await workspace.model(slug)
    except QuickAppError as error:
        return 404, str(error)
    return 200, found.display_name


async def caller_of_key(asker: Asker) -> Caller:
    headers = [(name.encode(), value.encode()) for name, value in asker.headers.items()]
    scope = {"headers": [*headers, (b"host", b"localhost")], "client": asker.address}
    return await authenticate(scope)


PAGE_DOORS: dict[str, Door] = {
    "page": chat_page,
    "upload": upload,
    "socket": socket,
    "submission": submission,
}
KEY_DOORS: dict[str, Door] = {
    "submission": submission,
    "DIAL's completions": dial_completion,
    "OpenAI's completions": openai_completion,
    "responses": response,
    "messages": message,
    "MCP tool": tool_call,
    "MCP server of an application": tool_server,
    "A2A": agent,
    "AG-UI": ag_ui_run,
    "configuration": configuration,
    "entry of the list": model_entry,
    "nested application": nested,
}


# --- Lists --------------------------------------------------------------------------------------


async def index(house: House, asker: Asker, slug: str) -> Answer:
    return await page(asker, "/")


async def approvals(house: House, asker: Asker, slug: str) -> Answer:
    return await page(asker, "/approvals/")


async def models(house: House, asker: Asker, slug: str) -> Answer:
    return await request(house, asker, "/v1/models")


async def deployments(house: House, asker: Asker, slug: str) -> Answer:
    return await request(house, asker, "/openai/deployments")


async def nested_deployments(house: House, asker: Asker, slug: str) -> Answer:
    try:
        workspace: Any = open_workspace(await caller_of_key(asker))
    except QuickAppError as error:
        return 401, str(error)
    names = await workspace.usable_deployments()
    return 200, " ".join(f"The {name}<" for name in names)


PAGE_LISTS: dict[str, Door] = {"list": index, "approvals": approvals}
KEY_LISTS: dict[str, Door] = {
    "models": models,
    "deployments": deployments,
    "MCP tools": tool_list,
    "nested deployments": nested_deployments,
}
