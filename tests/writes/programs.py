"""The writes of programs (the gateway, tasks and webhooks), and the frames of the page's socket."""

from __future__ import annotations

from typing import Any

from apps.conversations.models import Conversation, Message, QueuedMessage
from apps.live.models import Interaction, Run
from apps.live.run_summary import RunSummary
from apps.responses.models import StoredResponse
from apps.triggers.models import WebhookCall
from apps.workspace.local.models import StoredFile
from tests.writes.calls import Write

QUESTION: dict[str, Any] = {"messages": [{"role": "user", "content": "Hi"}]}
TASKS = "/api/IAIAssistantApi/"


def key(
    method: str, path: str, changes: Any, body: Any = None, status: int = 200, **more: Any
) -> Write:
    return Write(
        method, path, changes, body, **{"kind": "json", **more}, status=status, by_key=True
    )


def frame(changes: Any, *frames: Any, status: int = 200) -> Write:
    kinds = ", ".join(one.get("kind", one["type"]) for one in frames)
    return Write("FRAME", f"/ws/chat/travel/#{kinds}", changes, list(frames), "frames", status)


PROGRAMS = [
    key("POST", "/openai/deployments/travel/chat/completions", RunSummary, QUESTION),
    key("POST", "/v1/chat/completions", RunSummary, {**QUESTION, "model": "travel"}),
    key("POST", "/openai/deployments/numbers/embeddings", None, {"input": "Hi"}),
    key("POST", "/v1/embeddings", None, {"input": "Hi", "model": "numbers"}),
    key("POST", "/v1/responses", StoredResponse, {"model": "travel", "input": "Hi"}),
    key("POST", "/openai/deployments/travel/responses", StoredResponse, {"input": "Hi"}),
    key("POST", "/v1/responses/compact", RunSummary, {"model": "travel", "input": "Hi"}),
    key("POST", "/v1/responses/input_tokens", None, {"model": "travel", "input": "Hi"}),
    key("DELETE", "/v1/responses/resp_{w.stored_run.pk.hex}", StoredResponse),
    key("POST", "/v1/responses/resp_{w.keys_run.pk.hex}/cancel", Run),
    key(
        "PUT",
        "/v1/files/key-{w.key.prefix}/a.txt",
        StoredFile,
        {"file": ("a.txt", b"text", "text/plain")},
        kind="form",
    ),
    key("DELETE", "/v1/files/key-{w.key.prefix}/old.txt", StoredFile),
    key("POST", TASKS + "SubmitMessage", Message, {"application": "travel", "text": "Hi"}, 202),
    key("POST", TASKS + "tasks/{w.keys_run.pk}/cancel", Run, status=202),
    key(
        "POST",
        TASKS + "tasks/{w.keys_run.pk}/answer",
        Interaction,
        {"key": "call-1", "answer": {"outcome": "done", "result": {"a": 1}}},
        202,
    ),
    key("POST", TASKS + "conversations/{w.keys_conversation.pk}/delete", Conversation),
    key(
        "POST",
        "/api/ai/tool-claim",
        Interaction,
        {"run": "{w.keys_run.pk}", "key": "call-1", "page": "a"},
    ),
    key(
        "POST",
        "/api/ai/tool-result",
        Interaction,
        {"run": "{w.keys_run.pk}", "key": "call-1", "result": {"a": 1}},
    ),
    key("POST", "/hooks/{w.webhook.uuid}", WebhookCall, {"text": "Hi"}, 202),
]
OPEN = {"type": "open", "conversation": "{w.temporary.pk}"}
TURN = {"conversation": "{w.conversation.pk}", "message": "{w.asked_message.uuid}"}
ANSWER = {"type": "answer", "run": "{w.open_run.pk}"}
FRAMES = [
    frame(None, {"type": "open", "conversation": "{w.conversation.pk}"}),
    frame(None, {"type": "watch"}),
    frame(
        Conversation,
        {"type": "open", "conversation": "{w.unread.pk}"},
        {"type": "visibility", "hidden": False},
    ),
    frame(
        Message,
        {
            "type": "ask",
            "id": "11111111-1111-4111-8111-111111111111",
            "text": "Hi",
            "timezone": "Europe/Riga",
            "narrative": "a",
            "deployment": "",
            "effort": "",
        },
    ),
    frame(Run, OPEN, {"type": "stop"}),
    frame(None, OPEN, {"type": "helper.stop", "key": "a"}, status=400),
    frame(QueuedMessage, OPEN, {"type": "queue.change", "id": "{w.queued.pk}", "text": "Soon"}),
    frame(QueuedMessage, OPEN, {"type": "queue.remove", "id": "{w.queued.pk}"}),
    frame(QueuedMessage, OPEN, {"type": "queue.send", "id": "{w.queued.pk}"}),
    frame(None, {"type": "branch.switch", **TURN}),
    frame(Message, {"type": "turn.delete", **TURN}),
    frame(
        Interaction,
        {**ANSWER, "key": "call-1", "kind": "approval", "answer": {"outcome": "approved"}},
    ),
    frame(
        Interaction,
        {
            **ANSWER,
            "key": "call-2",
            "kind": "client_tool",
            "answer": {"outcome": "done", "result": {"a": 1}},
        },
    ),
    frame(
        Interaction,
        {
            **ANSWER,
            "key": "call-3",
            "kind": "question",
            "answer": {"outcome": "answered", "text": "This"},
        },
    ),
    frame(
        Interaction,
        {
            **ANSWER,
            "run": "{w.running_run.pk}",
            "key": "call-4",
            "kind": "elicitation",
            "answer": {"outcome": "declined"},
        },
    ),
    frame(
        Interaction,
        {**ANSWER, "key": "call-5", "kind": "sign_in", "answer": {"outcome": "skipped"}},
    ),
]
