"""A served site, and what its clients need."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from email.message import Message
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from tests.sites.serving import Site

PATIENCE = 60.0
PREPARE = """
from importlib import import_module
from django.conf import settings
from django.contrib.auth import get_user_model, login
from django.test import RequestFactory
from apps.accounts.models import ApiKey
user = get_user_model().objects.create_superuser("boss", "", "a-password-for-tests")
request = RequestFactory().get("/")
request.session = import_module(settings.SESSION_ENGINE).SessionStore()
login(request, user, backend="django.contrib.auth.backends.ModelBackend")
request.session.save()
row, key = ApiKey.objects.create_key(name="program")
result = [key, f"key-{row.prefix}", request.session.session_key]
"""
COMPLETIONS = "/openai/deployments/demo/chat/completions"
QUESTION = {"messages": [{"role": "user", "content": "Hello"}]}


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    headers: Message
    text: str


class House:
    def __init__(self, site: Site) -> None:
        self.site = site
        site.manage("import_content")
        self.key, self.bucket, self.session = site.shell(PREPARE)

    def ask(self, path: str, body: Any = None, method: str = "", **headers: str) -> Reply:
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        sent = {"content-type": "application/json", "api-key": self.key, **headers}
        request = Request(f"{self.site.url}{path}", data, sent, method=method or None)
        try:
            response = urlopen(request, timeout=PATIENCE)
        except HTTPError as error:
            response = error
        with response:
            return Reply(response.status, response.headers, response.read().decode())

    def until(self, is_true: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not is_true():
            assert time.monotonic() < deadline
            time.sleep(0.1)
