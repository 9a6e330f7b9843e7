"""Builds message content in the format of the chat completions API."""

from apps.doors.client_conversation import Object


class MessageContent:
    """The content parts of a client's message for the model, and its attached files."""

    def __init__(self) -> None:
        self.parts: list[Object] = []
        self.files: list[Object] = []

    def text(self, text: str) -> None:
        self.parts.append({"type": "text", "text": text})

    def picture(self, url: str) -> None:
        self.parts.append({"type": "image_url", "image_url": {"url": url}})

    def file(self, kind: str, name: str, **place: str) -> None:
        """Attach a file. `kind` is its media type, and `place` contains its `data` or its `url`."""
        self.files.append({"type": kind or "application/octet-stream", "title": name, **place})

    @property
    def content(self) -> str | list[Object]:
        if len(self.parts) == 1 and self.parts[0]["type"] == "text":
            return str(self.parts[0]["text"])
        return self.parts

    @property
    def custom_content(self) -> Object | None:
        return {"attachments": self.files} if self.files else None
