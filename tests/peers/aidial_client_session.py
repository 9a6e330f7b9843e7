"""Use the gateway with DIAL's own client, in an interpreter that has it.

python aidial_client_session.py URL KEY SLUG OWN_TOOL

It prints one JSON object, whose values the test checks.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from aidial_client import Dial, DialException  # type: ignore[import-not-found]

WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "Tells the weather.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}


class Session:
    def __init__(self, url: str, key: str, slug: str) -> None:
        self.client = Dial(base_url=url, api_key=key, max_retries=0)
        self.slug = slug

    def ask(self, messages: list[Any], **options: Any) -> Any:
        return self.client.chat.completions.create(
            deployment_name=options.pop("slug", self.slug), messages=messages, **options
        )

    def whole(self, text: str, **options: Any) -> Any:
        return self.ask([said(text)], stream=False, **options)

    def streamed(self, text: str) -> dict[str, Any]:
        chunks = list(self.ask([said(text)], stream=True))
        deltas = [choice.delta for chunk in chunks for choice in chunk.choices]
        return {
            "text": "".join(delta.content or "" for delta in deltas),
            "finish_reason": chunks[-1].choices[0].finish_reason,
            "total_tokens": chunks[-1].usage.total_tokens,
            "stages": sum(bool(d.custom_content and d.custom_content.stages) for d in deltas),
        }

    def remembered(self, tool: str) -> list[list[str]]:
        """Return the roles of the history in each of three answers."""
        messages: list[Any] = []
        roles = []
        for _ in range(3):
            messages.append(said(f"call {tool}"))
            message = self.ask(messages, stream=False).choices[0].message
            state = message.custom_content.state
            messages.append(
                {
                    "role": "assistant",
                    "content": message.content,
                    "custom_content": {"state": state},
                }
            )
            roles.append([item["role"] for item in state["tool_execution_history"]])
        return roles

    def tool_call(self) -> dict[str, Any]:
        choice = self.whole("call weather", tools=[WEATHER]).choices[0]
        (call,) = choice.message.tool_calls
        return {
            "finish_reason": choice.finish_reason,
            "name": call.function.name,
            "arguments": call.function.arguments,
        }

    def error(self, text: str, *, stream: bool, **options: Any) -> dict[str, Any]:
        try:
            answer = self.ask([said(text)], stream=stream, **options)
            if stream:
                list(answer)
        except DialException as error:
            return {
                "status": error.status_code,
                "code": error.code,
                "type": error.type,
                "display_message": error.display_message,
            }
        return {}

    def files(self) -> dict[str, Any]:
        """Return the results of storing, describing, listing in pages, downloading and deleting
        files."""
        files = self.client.files
        folder = f"files/{self.client.my_bucket()}/reports"
        item = files.upload(f"{folder}/first öne.csv", ("a.csv", b"first", "text/csv"))
        large = b"0123456789" * 300_000
        files.upload(f"{folder}/deep/large.bin", ("large.bin", large, "application/octet-stream"))
        listing = self.client.metadata.get("files", f"{folder}/")
        page = files.get_metadata(folder, limit=1)
        next_page = files.get_metadata(folder, limit=1, token=page.next_token)
        download = files.download(item.url)
        with TemporaryDirectory() as directory:
            files.download(f"{folder}/deep/large.bin").write_to(Path(directory) / "large")
            is_whole = (Path(directory) / "large").read_bytes() == large
        taken = refused(lambda: files.upload(item.url, b"x", etag_if_none_match="*"))
        stale = refused(lambda: files.delete(item.url, etag_if_match="older"))
        files.delete(item.url, etag_if_match=item.etag)
        return {
            "url": item.url.removeprefix(folder),
            "size": item.content_length,
            "content": download.get_content().decode(),
            "content_type": download.content_type,
            "filename": download.filename,
            "is_whole": is_whole,
            "listed": [[one.name, one.node_type] for one in listing.items],
            "paged": [one.name for one in (*page.items, *next_page.items)],
            "has_more": [page.next_token is not None, next_page.next_token is not None],
            "taken": taken,
            "stale": stale,
            "missing": refused(lambda: files.download(item.url)),
            "foreign": refused(lambda: files.download("files/key-another/a.txt")),
        }


def refused(call: Callable[[], Any]) -> list[Any]:
    try:
        call()
    except DialException as error:
        return [type(error).__name__, error.status_code]
    return []


def said(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def main(url: str, key: str, slug: str, tool: str) -> None:
    session = Session(url, key, slug)
    stages = session.whole(f"call {tool}").choices[0].message.custom_content.stages
    report = {
        "whole": session.whole("one two three").choices[0].message.content,
        "streamed": session.streamed("one two three"),
        "streamed_with_a_tool": session.streamed(f"call {tool}")["stages"],
        "stage_statuses": [stage.status for stage in stages],
        "tool_call": session.tool_call(),
        "remembered": session.remembered(tool),
        "refused": session.error("status 403", stream=False),
        "refused_stream": session.error("status 403", stream=True),
        "broken_stream": session.error("break", stream=True),
        "unknown": session.error("Hi", stream=False, slug="nothing"),
        "two_choices": session.error("Hi", stream=False, n=2),
        "files": session.files(),
    }
    sys.stdout.write(json.dumps(report))


if __name__ == "__main__":
    main(*sys.argv[1:])
