"""Converts file paths to resource URIs, `quickapps://` and the path, and back."""

from apps.doors.bodies import invalid

SCHEME = "quickapps://"
ROOT = "files/"
TEMPLATE = f"{SCHEME}{ROOT}{{bucket}}/{{+name}}"
WEB = ("https://", "http://")
LONGEST_URI = 8000


def uri_of(path: str) -> str:
    """Return the URI for a path `files/{bucket}/…`. Other URLs are returned unchanged."""
    return f"{SCHEME}{path}" if path.startswith(ROOT) else path


def path_of(uri: str) -> str:
    """Return the file path in a `quickapps://` URI, or "" for any other URI."""
    path = uri.removeprefix(SCHEME)
    return path if path != uri and path.startswith(ROOT) and "\0" not in path else ""


def check_web_address(uri: str, path: str) -> str:
    """Return `uri` if it is a web URL. Raises `BadRequest` with the argument's `path` otherwise."""
    if not uri.startswith(WEB) or len(uri) > LONGEST_URI:
        raise invalid(f"{path}.uri", f"Use an http(s) URL, or a URI {TEMPLATE}.")
    return uri
