"""Every door to an application, as a request to it and the answer that comes.

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

from apps.accounts.authentication import authenticate
from apps.accounts.caller import Caller
from apps.chat.consumers import ChatConsumer
from apps.chat.routing import TASKS
from apps.chat.tasks import SubmitConsumer
from apps.errors import QuickAppError
from apps.gateway import routing as gateway
from apps.gateway.completions import CompletionConsumer
from apps.live.hub import Hub
from apps.runs.workspaces import open_workspace
from tests.access.askers import Asker
from tests.chat import scripts as chat_scripts
from tests.gateway.scripts import Client, ScriptedModel, ScriptedWorkspace, ends, says

PATIENCE = 60.0
Answer = tuple[int, str]
Door = Callable[["House", Asker, str], Awaitable[Answer]]


class ReadyModel(ScriptedModel):
    """Answers the same to every question."""

    def __init__(self) -> None:
        super().__init__()

    async def stream(self, request: Any) -> Any:
        yield [says("12")]
        yield ends()


@dataclass(frozen=True, slots=True)
class House:
    """The doors of a process; its models answer at once."""

    hub: Hub
    http: Any
    sockets: Any


def open_house() -> House:
    hub = Hub()
    paced: Any = ReadyModel()
    paged = chat_scripts.ScriptedWorkspace(paced)
    socket: Any = ChatConsumer.as_asgi(hub=hub, open_workspace=paged)
    submit = SubmitConsumer.as_asgi(hub=hub, open_workspace=paged)
    complete = CompletionConsumer.as_asgi(
        open_workspace=ScriptedWorkspace(ReadyModel()), recorded=hub.summaries.recorded
    )
    http = URLRouter(
        [
            re_path(r"^openai/deployments/(?P<slug>[^/]+)/chat/completions$", complete),
            re_path(r"^v1/chat/completions$", complete),
            *gateway.urlpatterns[2:],
            path(f"{TASKS}/SubmitMessage", AuthMiddlewareStack(submit)),
        ]
    )
    return House(hub, http, AuthMiddlewareStack(URLRouter([path("ws/chat/<slug:slug>/", socket)])))


async def request(house: House, asker: Asker, address: str, body: Any = None) -> Answer:
    """To what is routed before Django."""
    sent = b"" if body is None else json.dumps(body).encode()
    method = "GET" if body is None else "POST"
    client = Client(
        house.http, address, method=method, headers={**asker.headers}, client=asker.address
    )
    await client.send(sent)
    answer = await client.read()
    return answer.status, answer.body.decode()


@sync_to_async
def page(asker: Asker, address: str, form: Mapping[str, Any] | None = None) -> Answer:
    """To Django, on the thread that has the transaction of the test."""
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


async def configuration(house: House, asker: Asker, slug: str) -> Answer:
    return await request(house, asker, f"/openai/deployments/{slug}/configuration")


async def model_entry(house: House, asker: Asker, slug: str) -> Answer:
    return await request(house, asker, f"/v1/models/{slug}")


async def nested(house: House, asker: Asker, slug: str) -> Answer:
    """As the deployment that another application of the caller asks for."""
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
    "nested deployments": nested_deployments,
}
