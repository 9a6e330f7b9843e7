"""The middleware serves built files, including files that appear while the process runs."""

from pathlib import Path
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory

from quickapps_site.middleware.static_files import StaticFilesMiddleware


@pytest.fixture
def middleware(tmp_path: Path, settings: Any) -> StaticFilesMiddleware:
    settings.STATIC_ROOT = str(tmp_path / "static")
    settings.WHITENOISE_AUTOREFRESH = settings.WHITENOISE_USE_FINDERS = False
    (tmp_path / "static").mkdir()
    (tmp_path / "secret.key").write_text("secret")

    def find_no_page(request: HttpRequest) -> HttpResponse:
        return HttpResponse("no page", status=404)

    return StaticFilesMiddleware(find_no_page)


@pytest.mark.parametrize(
    ("path", "status", "content"),
    [
        ("/static/page.0123456789ab.js", 200, b"later"),
        ("/static/other.0123456789ab.js", 404, b"no page"),
        ("/static/", 404, b"no page"),
        ("/static/../secret.key", 404, b"no page"),
    ],
)
def test_files_that_another_version_builds_later_are_served(
    middleware: StaticFilesMiddleware, tmp_path: Path, path: str, status: int, content: bytes
) -> None:
    (tmp_path / "static" / "page.0123456789ab.js").write_text("later")

    response = middleware(RequestFactory().get(path))

    assert (response.status_code, response.content) == (status, content)
