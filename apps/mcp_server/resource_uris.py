"""URIs of the server's resources: `quickapps://` and the path of the file."""

from apps.doors.bodies import invalid

SCHEME = "quickapps://"
ROOT = "files/"
TEMPLATE = f"{SCHEME}{ROOT}{{bucket}}/{{+name}}"
WEB = ("https://", "http://")
LONGEST_URI = 8000


def uri_of(path: str) -> str:
    """Return the URI of a file `files/{bucket}/…`. Any other URL is returned unchanged."""
    return f"{SCHEME}{path}" if path.startswith(ROOT) else path


def path_of(uri: str) -> str:
    """Return the path of a file on this server, or "" for any other URI."""
    path = uri.removeprefix(SCHEME)
    return path if path != uri and path.startswith(ROOT) and "\0" not in path else ""


def check_web_address(uri: str, path: str) -> str:
    """Return a web URL. `path` is the path of the argument. Raises `BadRequest`."""
    if not uri.startswith(WEB) or len(uri) > LONGEST_URI:
        raise invalid(f"{path}.uri", f"Use an http(s) address, or a URI {TEMPLATE}.")
    return uri
