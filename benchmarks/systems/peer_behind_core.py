"""The peer behind DIAL Core: an application on aidial-sdk whose properties Core stores.

In each request, it asks Core for its properties, for its model and for the answer, all with the key
of the request. With BENCH_CAREFUL, the request for the properties uses connections that all
requests share. Otherwise it uses the SDK's own method, which creates a client for each call.
"""

from __future__ import annotations

import os
from typing import Any

import httpx
from aidial_sdk import DIALApp
from aidial_sdk.chat_completion import ChatCompletion, Request, Response
from openai import AsyncAzureOpenAI

from benchmarks.systems.peer import answer

CORE = os.environ["BENCH_CORE"]
IS_CAREFUL = bool(os.environ.get("BENCH_CAREFUL"))

model_client = AsyncAzureOpenAI(
    azure_endpoint=CORE, api_key="of the request", api_version="2025-01-01-preview", max_retries=0
)
core_client = httpx.AsyncClient(
    base_url=CORE, limits=httpx.Limits(max_connections=2000, max_keepalive_connections=500)
)


class Peer(ChatCompletion):
    async def chat_completion(self, request: Request, response: Response) -> None:
        properties = await find_properties(request)
        deployment = properties["orchestrator"]["deployment"]["deployment_id"]
        await ask_core(f"/openai/models/{deployment}", request.api_key)
        client = model_client.with_options(api_key=request.api_key)
        await answer(client, deployment, request, response)


async def find_properties(request: Request) -> Any:
    if not IS_CAREFUL:
        return await request.request_dial_application_properties()
    path = f"/openai/applications/{request.dial_application_id}"
    return (await ask_core(path, request.api_key))["application_properties"]


async def ask_core(path: str, key: str) -> Any:
    found = await core_client.get(path, headers={"Api-Key": key})
    return found.raise_for_status().json()


app = DIALApp(dial_url=CORE)
app.add_chat_completion("bench", Peer())
