"""Requests of the studio's scripts, and their responses."""

from __future__ import annotations

import json
from typing import Any

from django.test import AsyncClient, Client

from apps.catalog.models import Application

WRITTEN = ("title", "description", "manifest", "icon", "skills")
Events = list[tuple[str, dict[str, Any]]]


def address(row: Application, name: str = "") -> str:
    return f"/admin/catalog/application/{row.pk}/studio/{f'{name}/' if name else ''}"


def send(client: Client, row: Application, name: str, body: Any) -> Any:
    return client.post(address(row, name), json.dumps(body), content_type="application/json")


def page_data(client: Client, row: Application) -> dict[str, Any]:
    answer = client.get(address(row))
    assert answer.status_code == 200
    data: dict[str, Any] = answer.context["data"]
    return data


def written(data: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {name: data[name] for name in WRITTEN} | changes


async def ask(client: AsyncClient, row: Application, body: Any, language: str = "en") -> Events:
    url = address(row, "answer")
    headers = {"accept-language": language}
    answer: Any = await client.post(url, json.dumps(body), "application/json", headers=headers)
    assert answer.status_code == 200
    parts = b"".join([part async for part in answer.streaming_content]).decode()
    return [event_of(one) for one in parts.strip().split("\n\n")]


def event_of(text: str) -> tuple[str, dict[str, Any]]:
    name, data = text.split("\n")
    return name.removeprefix("event: "), json.loads(data.removeprefix("data: "))
