"""Converts file paths to resource URIs, such as `quickapps://files/…`, and back."""

from apps.doors.bodies import invalid

SCHEME = "quickapps://"
ROOT = "files/"
TEMPLATE = f"{SCHEME}{ROOT}{{bucket}}/{{+name}}"
WEB = ("https://", "http://")
LONGEST_URI = 8000


def uri_of(path: str) -> str:
    """Return the URI of a path `files/{bucket}/…`. Other URLs are returned unchanged."""
    return f"{SCHEME}{path}" if path.startswith(ROOT) else path


def path_of(uri: str) -> str:
    """Return the path of the file with this URI, or "" if it is not a file's URI."""
    path = uri.removeprefix(SCHEME)
    return path if path != uri and path.startswith(ROOT) and "\0" not in path else ""


def check_web_address(uri: str, path: str) -> str:
    """Return an http(s) URL. Raises `BadRequest` with the `path` of the argument for any
    other URI.
    """
    if not uri.startswith(WEB) or len(uri) > LONGEST_URI:
        raise invalid(f"{path}.uri", f"Use an http(s) URL, or a URI of the form {TEMPLATE}.")
    return uri
