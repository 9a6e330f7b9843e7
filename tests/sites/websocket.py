"""The page's end of its socket, over a plain connection that reads only on demand."""

from __future__ import annotations

import base64
import json
import os
import socket
import struct
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen
from uuid import uuid4

PATIENCE = 60.0
TEXT, CLOSE = 1, 8


def visitor_cookie(site: str, slug: str) -> str:
    """Return the cookie of a browser that has opened the page of an application and its socket."""
    with urlopen(f"{site}/chat/{slug}/", timeout=PATIENCE) as page:
        cookies = SimpleCookie("; ".join(page.headers.get_all("set-cookie")))
    page_alone = written(cookies)
    tab = PageSocket(site, slug, page_alone)
    tab.close()
    return "; ".join(filter(None, (page_alone, written(tab.cookies))))


def written(cookies: SimpleCookie) -> str:
    return "; ".join(f"{name}={morsel.value}" for name, morsel in cookies.items())


class PageSocket:
    """A tab. `code` is the close code of the server, or None while the socket is open; `cookies`
    are new ones. Frames of a socket that `deflates` are compressed and cannot be read here."""

    def __init__(
        self,
        site: str,
        slug: str,
        cookie: str,
        *,
        buffer: int | None = None,
        deflates: bool = False,
    ) -> None:
        self.code: int | None = None
        self.cookies = SimpleCookie()
        self.extension = "sec-websocket-extensions: permessage-deflate\r\n" if deflates else ""
        self.connection = socket.socket()
        if buffer is not None:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        self.connection.settimeout(PATIENCE)
        self.incoming = self.connection.makefile("rb")
        try:
            self.connect(site, slug, cookie)
        except BaseException:
            self.close()
            raise

    def connect(self, site: str, slug: str, cookie: str) -> None:
        parts = urlsplit(site)
        assert parts.hostname is not None
        self.connection.connect((parts.hostname, parts.port))
        key = base64.b64encode(os.urandom(16)).decode()
        self.connection.sendall(
            f"GET /ws/chat/{slug}/ HTTP/1.1\r\nhost: {parts.netloc}\r\norigin: {site}\r\n"
            f"upgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\n"
            f"sec-websocket-key: {key}\r\n{self.extension}cookie: {cookie}\r\n\r\n".encode()
        )
        status = self.incoming.readline()
        assert b" 101 " in status, status
        while line := self.incoming.readline().decode("latin-1").strip():
            name, _, value = line.partition(":")
            if name.lower() == "set-cookie":
                self.cookies.load(value.strip())

    def send(self, frame: dict[str, Any]) -> None:
        text = json.dumps(frame).encode()
        is_short = len(text) < 126
        size = bytes([0x80 | len(text)]) if is_short else struct.pack("!BH", 0x80 | 126, len(text))
        head = bytes([0x80 | TEXT]) + size
        self.connection.sendall(head + bytes(4) + text)

    def ask(self, text: str) -> str:
        """Ask in a new conversation. Return its id."""
        self.send({"type": "ask", "id": str(uuid4()), "text": text, "conversation": None})
        opened = self.until("conversation.opened")[-1]
        return str(opened["conversation"])

    def open(self, conversation: str) -> None:
        self.send({"type": "open", "conversation": conversation, "after": 0})

    def frame(self) -> dict[str, Any] | None:
        """Return the next frame, or None if the server has closed the socket."""
        while True:
            head = self.incoming.read(2)
            if len(head) < 2:
                return None
            size = head[1] & 0x7F
            if size >= 126:
                wide = self.incoming.read(2 if size == 126 else 8)
                size = int.from_bytes(wide, "big")
            body = self.incoming.read(size)
            kind = head[0] & 0x0F
            if kind == TEXT:
                frame: dict[str, Any] = json.loads(body)
                return frame
            if kind == CLOSE:
                self.code = int.from_bytes(body[:2], "big")
                return None

    def until(self, kind: str, **fields: Any) -> list[dict[str, Any]]:
        """Return all frames up to the first of that type with those fields."""
        frames = []
        while (frame := self.frame()) is not None:
            frames.append(frame)
            if frame["type"] == kind and fields.items() <= frame.items():
                return frames
        raise AssertionError(f"The socket was closed ({self.code}) before {kind}: {frames[-3:]}")

    def rest(self) -> list[dict[str, Any]]:
        """Return all frames until the server closes the socket."""
        frames = []
        while (frame := self.frame()) is not None:
            frames.append(frame)
        return frames

    def close(self) -> None:
        self.incoming.close()
        self.connection.close()
