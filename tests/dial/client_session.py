"""Use an application that Core stores with DIAL's own client, in an interpreter that has it.

python client_session.py CORE KEY APPLICATION

It prints one JSON object, whose values the test checks.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from aidial_client import Dial, DialException  # type: ignore[import-not-found]


class Session:
    def __init__(self, url: str, key: str, name: str) -> None:
        self.client = Dial(base_url=url, api_key=key, max_retries=0)
        self.name = name

    def ask(self, messages: list[Any], *, stream: bool = False) -> Any:
        return self.client.chat.completions.create(
            deployment_name=self.name, messages=messages, stream=stream
        )

    def streamed(self, text: str) -> dict[str, Any]:
        chunks = list(self.ask([said(text)], stream=True))
        deltas = [choice.delta for chunk in chunks for choice in chunk.choices]
        contents = [delta.custom_content for delta in deltas if delta.custom_content]
        return {
            "text": "".join(delta.content or "" for delta in deltas),
            "pieces": sum(bool(delta.content) for delta in deltas),
            "stages": any(content.stages for content in contents),
            "states": sum(content.state is not None for content in contents),
            "usage": chunks[-1].usage.total_tokens > 0,
        }

    def conversation(self) -> list[dict[str, Any]]:
        """Run three turns, each with the state of the previous one."""
        messages: list[Any] = []
        turns = []
        for text in ("one", "two", "three"):
            messages.append(said(text))
            message = self.ask(messages).choices[0].message
            state = message.custom_content.state
            content = {"role": "assistant", "content": message.content}
            messages.append({**content, "custom_content": {"state": state}})
            stages = [stage.status for stage in message.custom_content.stages]
            turns.append({"text": message.content, "stages": stages})
        return turns

    def files(self) -> dict[str, Any]:
        """Send one file with the question, and get another one with the answer."""
        url = f"files/{self.client.my_bucket()}/a question.txt"
        stored = self.client.files.upload(url, ("a.txt", b"What is this?", "text/plain"))
        sent = {"type": "text/plain", "title": "a question", "url": stored.url}
        question = {**said("file"), "custom_content": {"attachments": [sent]}}
        message = self.ask([question]).choices[0].message
        [got] = message.custom_content.attachments
        return {"sent": stored.url, "type": got.type, "title": got.title, "url": got.url}

    def error(self, text: str, *, stream: bool, name: str = "") -> dict[str, Any]:
        asked = Session.__new__(Session)
        asked.client, asked.name = self.client, name or self.name
        try:
            answer = asked.ask([said(text)], stream=stream)
            if stream:
                list(answer)
        except DialException as error:
            return {
                "status": error.status_code,
                "code": error.code,
                "display_message": error.display_message,
            }
        return {}


def said(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def main(url: str, key: str, name: str) -> None:
    session = Session(url, key, name)
    report = {
        "streamed": session.streamed("one"),
        "conversation": session.conversation(),
        "files": session.files(),
        "refused": session.error("refuse", stream=False),
        "refused_stream": session.error("refuse", stream=True),
        "busy": session.error("busy", stream=False),
        "broken": session.error("break", stream=True),
        "broken_whole": session.error("break", stream=False),
        "unknown": session.error("one", stream=False, name="none-such"),
        "form": session.client.deployments.get_configuration_schema(name),
    }
    sys.stdout.write(json.dumps(report, default=dict))


if __name__ == "__main__":
    main(*sys.argv[1:])
