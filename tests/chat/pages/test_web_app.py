from __future__ import annotations

import json
import re

import pytest
from django.contrib.staticfiles import finders
from django.test import Client


def test_the_manifest_names_icons_that_exist(client):
    answer = client.get("/manifest.webmanifest")

    manifest = json.loads(answer.content)
    assert answer.headers["Content-Type"] == "application/manifest+json"
    assert (manifest["name"], manifest["start_url"], manifest["display"]) == (
        "QuickApps", "/", "standalone"
    )  # fmt: skip
    assert [icon["sizes"] for icon in manifest["icons"]] == ["any", "192x192", "512x512"]
    for icon in manifest["icons"]:
        assert finders.find(icon["src"].removeprefix("/static/")) is not None


def test_the_worker_is_asked_for_anew_and_names_files_that_exist(client):
    answer = client.get("/service-worker.js")

    assert answer.headers["Content-Type"] == "text/javascript; charset=utf-8"
    assert answer.headers["Cache-Control"] == "no-cache"
    [written] = re.findall(r"const FILES = JSON.parse\('(.*)'\);", answer.content.decode())
    offline, *files = json.loads(json.loads(f'"{written}"'))
    assert offline == "/offline/"
    assert [file for file in files if finders.find(file.removeprefix("/static/")) is None] == []


@pytest.mark.django_db
def test_the_page_for_no_connection_says_nothing_of_who_is_signed_in(admin_client):
    answer = admin_client.get("/offline/")

    assert "The server can" in answer.text
    assert answer.content == Client().get("/offline/").content
