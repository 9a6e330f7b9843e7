"""Pages of other origins may ask the gateway, as far as the operator says so.

This is put around the whole application: the gateway's consumers are routed before Django, so a
middleware of Django's would never see their requests.
"""

from collections.abc import Collection
from typing import Any

from starlette.middleware.cors import CORSMiddleware

PATHS = ("/openai/", "/v1/")
METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE")
EXPOSED = (
    "Content-Disposition",
    "Content-Range",
    "ETag",
    "Retry-After",
    "X-Ignored-Parameters",
)
"""Headers of answers that pages may read beside those that they always may."""


def with_cors(application: Any, origins: Collection[str]) -> Any:
    """The application itself if there are no origins, so that nobody pays for it."""
    if not origins:
        return application
    shared = CORSMiddleware(
        application,
        allow_origins=origins,
        allow_methods=METHODS,
        allow_headers=("*",),  # OpenAI's clients send a dozen of their own
        allow_credentials=False,
        allow_private_network=True,
        expose_headers=EXPOSED,
    )

    async def route(scope: Any, receive: Any, send: Any) -> None:
        taken = shared if scope["path"].startswith(PATHS) else application
        await taken(scope, receive, send)

    return route
