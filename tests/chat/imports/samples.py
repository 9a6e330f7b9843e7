"""Small files as other programs export them."""

from __future__ import annotations

import base64
import io
import json
import zipfile
from typing import Any

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8Dwn4GIAAAfHQP/hE1zSAAAAABJRU5ErkJggg=="
)


def pointer_to(key: str, scheme: str = "file-service") -> dict[str, str]:
    """Return a picture among the parts of a message of ChatGPT."""
    return {"content_type": "image_asset_pointer", "asset_pointer": f"{scheme}://{key}"}


def file_of(*documents: Any) -> io.BytesIO:
    return io.BytesIO(json.dumps(list(documents)).encode())


def zip_of(members: dict[str, bytes]) -> io.BytesIO:
    found = io.BytesIO()
    with zipfile.ZipFile(found, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    found.seek(0)
    return found


def chatgpt_node(
    key: str,
    parent: str | None,
    role: str | None = None,
    content: Any = None,
    at: float | None = None,
    **more: Any,
) -> tuple[str, dict[str, Any]]:
    """Return a node. `content` is a text, or the whole content."""
    message = None
    if role is not None:
        if isinstance(content, str):
            content = {"content_type": "text", "parts": [content]}
        message = {
            "id": key,
            "author": {"role": role, "name": None, "metadata": {}},
            "create_time": at,
            "content": content,
            "status": "finished_successfully",
            "metadata": {},
            "recipient": "all",
            **more,
        }
    return key, {"id": key, "message": message, "parent": parent, "children": []}


def chatgpt(
    *nodes: tuple[str, dict[str, Any]],
    key: str = "11111111-0000-4000-8000-000000000001",
    leaf: str = "",
    **more: Any,
) -> dict[str, Any]:
    return {
        "title": "Trip to Riga",
        "create_time": 1_700_000_000.5,
        "update_time": 1_700_000_500.0,
        "mapping": dict(nodes),
        "moderation_results": [],
        "current_node": leaf or (nodes[-1][0] if nodes else None),
        "conversation_id": key,
        "id": key,
        "is_archived": False,
        **more,
    }


TRIP = chatgpt(
    chatgpt_node("root", None),
    chatgpt_node("system", "root", "system", ""),
    chatgpt_node("q1", "system", "user", "Where is Riga?", 1_700_000_001.0),
    chatgpt_node(
        "a1", "q1", "assistant", "In Latvia.", 1_700_000_002.0, metadata={"model_slug": "gpt-4o"}
    ),
    chatgpt_node("q2", "a1", "user", "How far is it?", 1_700_000_003.0),
    chatgpt_node("a2", "q2", "assistant", "Far.", 1_700_000_004.0),
    chatgpt_node("a3", "q2", "assistant", "Not far.", 1_700_000_005.0),
    leaf="a2",
)

OPEN_WEBUI: dict[str, Any] = {
    "id": "chat-1",
    "user_id": "u1",
    "title": "Sums",
    "chat": {
        "title": "Sums",
        "models": ["deepseek-r1"],
        "history": {
            "currentId": "m2",
            "messages": {
                "m1": {
                    "id": "m1",
                    "parentId": None,
                    "childrenIds": ["m2", "m3"],
                    "role": "user",
                    "content": "15 * 17?",
                    "timestamp": 1_700_000_000,
                    "files": [{"type": "file", "name": "sums.pdf"}],
                },
                "m2": {
                    "id": "m2",
                    "parentId": "m1",
                    "childrenIds": [],
                    "role": "assistant",
                    "content": '<details type="reasoning" done="true"><summary>Thought</summary>'
                    "&gt; Hm</details>\n255",
                    "model": "deepseek-r1",
                    "timestamp": 1_700_000_010,
                },
                "m3": {
                    "id": "m3",
                    "parentId": "m1",
                    "childrenIds": [],
                    "role": "assistant",
                    "content": "It is 255.",
                    "model": "llama3",
                    "timestamp": 1_700_000_011,
                },
            },
        },
    },
    "created_at": 1_700_000_000,
    "updated_at": 1_700_000_011,
    "archived": True,
    "pinned": False,
}

LIBRECHAT: dict[str, Any] = {
    "conversationId": "27b593be-0000-4000-8000-0000000000aa",
    "endpoint": "openAI",
    "title": "Stories",
    "exportAt": "08:12:16 GMT-0400",
    "branches": True,
    "recursive": False,
    "options": {"model": "gpt-4o"},
    "messages": [
        {
            "messageId": "l1",
            "parentMessageId": "00000000-0000-0000-0000-000000000000",
            "createdAt": "2024-05-28T18:08:55.014Z",
            "isCreatedByUser": True,
            "sender": "User",
            "text": "Tell a story",
        },
        {
            "messageId": "l2",
            "parentMessageId": "l1",
            "createdAt": "2024-05-28T18:08:56.000Z",
            "isCreatedByUser": False,
            "sender": "GPT-4",
            "model": "gpt-4o",
            "text": "Once.",
        },
        {
            "messageId": "l3",
            "parentMessageId": "00000000-0000-0000-0000-000000000000",
            "createdAt": "2024-05-28T18:09:55.014Z",
            "isCreatedByUser": True,
            "sender": "User",
            "text": "Tell a long story",
        },
        {
            "messageId": "l4",
            "parentMessageId": "l3",
            "createdAt": "2024-05-28T18:10:00.000Z",
            "isCreatedByUser": False,
            "sender": "GPT-4",
            "model": "gpt-4o",
            "text": "",
            "content": [
                {"type": "think", "think": "Hm"},
                {"type": "text", "text": {"value": "Once upon a time."}},
            ],
        },
    ],
}
