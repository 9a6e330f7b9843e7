"""Serves the static files to browsers."""

from contextlib import suppress
from pathlib import Path
from typing import Any

from django.http import HttpRequest, HttpResponse
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.responders import NotARegularFileError


class StaticFilesMiddleware(WhiteNoiseMiddleware):  # type: ignore[misc]
    """Sends each static file as one chunk.

    WhiteNoise would stream it with an iterator, which Django's ASGI handler reads completely, with
    a warning.
    """

    def __call__(self, request: HttpRequest) -> Any:
        self.add_later_file(request.path_info)
        return super().__call__(request)

    def add_later_file(self, url: str) -> None:
        """Add a file that did not exist when this process started. During an upgrade, another
        version may build files into the folder.
        """
        if self.autorefresh or url in self.files or not url.startswith(self.static_prefix):
            return
        root = f"{Path(self.static_root).absolute()}/"
        path = root + url.removeprefix(self.static_prefix)
        if self.url_is_canonical(url) and self.path_is_child_of(path, root):
            with suppress(NotARegularFileError):
                self.files[url] = self.find_file_at_path(path, url)

    @staticmethod
    def serve(static_file: Any, request: HttpRequest) -> HttpResponse:
        found = static_file.get_response(request.method, request.META)
        content = b""
        if found.file is not None:
            with found.file as file:
                content = file.read()
        response = HttpResponse(content, status=int(found.status))
        del response["Content-Type"]
        for name, value in found.headers:
            response[name] = value
        return response
