"""Plain HTTP and a plain socket, at the doors that have no client of a third party here."""

from __future__ import annotations

import time
from contextlib import ExitStack
from typing import Any
from uuid import uuid4

import httpx

from tests.peers.one_application.shop import (
    FILE_NAME,
    ORDER,
    SELL,
    SLUG,
    Conversation,
    Shop,
    read_files,
)
from tests.sites.websocket import PageSocket, visitor_cookie

PATIENCE = 60.0
TASKS = "/api/IAIAssistantApi"
APPROVED = {"outcome": "approved"}
RED = {"outcome": "answered", "choices": ["Red"]}


def program(shop: Shop, **headers: str) -> httpx.Client:
    return httpx.Client(
        base_url=shop.url, headers={"Api-Key": shop.key, **headers}, timeout=PATIENCE
    )


def converse_with_a2a(shop: Shop) -> Conversation:
    file = {"raw": ORDER, "mediaType": "text/plain", "filename": FILE_NAME}
    parts: list[Any] = [{"text": SELL}, file]
    texts, task = [], None
    with program(shop, **{"A2A-Version": "1.0"}) as client:
        for answer in ("Approve", "Red", ""):
            message = {"messageId": str(uuid4()), "role": "ROLE_USER", "parts": parts}
            sent = {"message": message | ({"taskId": task["id"]} if task else {})}
            reply = client.post(f"/a2a/{SLUG}/message:send", json=sent)
            task = reply.raise_for_status().json()["task"]
            texts += [part["text"] for part in said_in(task) if "text" in part]
            parts = [{"text": answer}]
    assert task is not None
    urls = [part["url"] for one in task["artifacts"] for part in one["parts"] if "url" in part]
    return Conversation(tuple(texts), read_urls(shop, urls))


def said_in(task: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the parts of the question for which the task waits, or those of its answer."""
    if task["status"]["state"] == "TASK_STATE_INPUT_REQUIRED":
        parts: list[dict[str, Any]] = task["status"]["message"]["parts"]
        return parts
    return [part for one in task["artifacts"] if one["name"] == "answer" for part in one["parts"]]


def read_urls(shop: Shop, urls: list[str]) -> tuple[bytes, ...]:
    return read_files(shop, [url.partition("/v1/")[2] for url in urls])


def converse_with_tasks(shop: Shop) -> Conversation:
    with program(shop) as client:
        bucket = client.get("/v1/bucket").json()["bucket"]
        path = f"files/{bucket}/{FILE_NAME}"
        client.put(f"/v1/{path}", files={"file": (FILE_NAME, b"Two boxes.", "text/plain")})
        sent = {"application": SLUG, "text": SELL, "attachments": [{"url": path}]}
        begun = client.post(f"{TASKS}/SubmitMessage", json=sent).raise_for_status().json()
        address = f"{TASKS}/tasks/{begun['task_id']}"
        texts = []
        for answer in (APPROVED, RED):
            [asked] = until_still(client, address)["questions"]
            texts.append(str(asked["asked"]))
            given = {"key": asked["key"], "answer": answer}
            client.post(f"{address}/answer", json=given).raise_for_status()
        message = until_still(client, address)["message"]
    paths = [one["url"] for one in message["attachments"]]
    return Conversation((*texts, message["text"]), read_files(shop, paths))


def until_still(client: httpx.Client, address: str) -> dict[str, Any]:
    """Return the task as soon as it waits for an answer or has ended."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        task: dict[str, Any] = client.get(address).raise_for_status().json()
        if task["status"] in ("done", "failed", "stopped") or task["questions"]:
            return task
    raise TimeoutError(address)


def converse_with_page(shop: Shop) -> Conversation:
    cookie = visitor_cookie(shop.url, SLUG)
    with ExitStack() as stack:
        browser = stack.enter_context(
            httpx.Client(base_url=shop.url, headers={"Cookie": cookie}, timeout=PATIENCE)
        )
        token = cookie.partition("csrftoken=")[2].partition(";")[0]
        begin = str(uuid4())
        stored = browser.post(
            f"/chat/{SLUG}/files/",
            data={"conversation": begin},
            files={"file": (FILE_NAME, b"Two boxes.", "text/plain")},
            headers={"X-CSRFToken": token, "Origin": shop.url},
        )
        attachments = [{"url": stored.raise_for_status().json()["url"]}]
        tab = PageSocket(shop.url, SLUG, cookie)
        stack.callback(tab.close)
        asking = {"id": str(uuid4()), "text": SELL, "conversation": None, "begin": begin}
        tab.send({"type": "ask", **asking, "attachments": attachments})
        texts = []
        run = None
        for answer in (APPROVED, RED):
            frames = tab.until("interaction.requested")
            asked = frames[-1]
            run = next((frame["run"] for frame in frames if isinstance(frame.get("run"), str)), run)
            texts.append(str(asked["asked"]))
            given = {"run": run, "key": asked["key"], "kind": asked["kind"], "answer": answer}
            tab.until("run.status", status="waiting")
            tab.send({"type": "answer", **given})
        message = tab.until("message.complete")[-1]["message"]
        files = [browser.get(f"/{one['url']}") for one in message["attachments"]]
    answer_text = str(message["text"])
    contents = tuple(one.raise_for_status().content for one in files)
    return Conversation((*texts, answer_text), contents)
