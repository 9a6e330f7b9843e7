"""The writes of programs (the gateway, tasks and webhooks), and the frames of the page's socket."""

from __future__ import annotations

from typing import Any

from apps.a2a.models import PushConfig
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


A2A = {"a2a-version": "1.0"}
MCP = {
    "accept": "application/json, text/event-stream",
    "mcp-protocol-version": "2025-11-25",
}
TASK = "/a2a/travel/tasks/{w.agents_task.pk}"
PUSH = {"url": "https://example.org/b", "token": "t", "id": "new"}


def called(method: str, params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def agent_message(id: str) -> dict[str, Any]:
    parts = [{"text": "Hi"}]
    return {"message": {"messageId": id, "role": "ROLE_USER", "parts": parts}}


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
    key(
        "POST",
        "/v1/messages",
        RunSummary,
        {"model": "travel", "max_tokens": 10, **QUESTION},
    ),
    key("POST", "/v1/messages/count_tokens", None, {"model": "travel", **QUESTION}),
    key(
        "POST",
        "/mcp/travel",
        RunSummary,
        called("tools/call", {"name": "travel", "arguments": {"message": "Hi"}}),
        headers=MCP,
    ),
    key(
        "POST",
        "/ag-ui/travel",
        RunSummary,
        {
            "threadId": "t",
            "runId": "r",
            "messages": [{"id": "1", "role": "user", "content": "Hi"}],
            "state": {},
            "tools": [],
            "context": [],
            "forwardedProps": {},
        },
    ),
    key("POST", "/a2a/travel", Message, called("SendMessage", agent_message("a")), headers=A2A),
    key("POST", "/a2a/travel/message:send", Message, agent_message("b"), headers=A2A),
    key("POST", "/a2a/travel/message:stream", Message, agent_message("c"), headers=A2A),
    key("POST", f"{TASK}:cancel", Run, {}, headers=A2A),
    key("POST", f"{TASK}/pushNotificationConfigs", PushConfig, PUSH, headers=A2A),
    key("DELETE", f"{TASK}/pushNotificationConfigs/ci", PushConfig, headers=A2A),
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
VISITED = {"type": "token", "token": "{w.visitor_token}", "host": "https://shop.example"}
FRAMES = [
    Write(
        "FRAME",
        "/ws/widget/travel/#ask",
        Message,
        [
            VISITED,
            {"type": "ask", "id": "22222222-2222-4222-8222-222222222222", "text": "Hi"},
        ],
        "frames",
        200,
    ),
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
