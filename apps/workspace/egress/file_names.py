"""Names of files that are fetched or stored: from headers, from addresses, cleaned."""

import hashlib
import mimetypes
from email.message import Message
from urllib.parse import unquote, urlsplit

NAME_BYTES = 200
"""Less than the 255 of file systems, so that a prefix fits."""


def name_of_file(url: str, disposition: str, content_type: str) -> str:
    """The name from the server, else from the URL's path, else one made of the URL's hash."""
    given = usable_name(disposition_name(disposition)) or usable_name(name_in_address(url))
    if given:
        return given
    digest = hashlib.sha256(url.encode("utf-8", "replace")).hexdigest()[:16]
    return f"external-{digest}{mimetypes.guess_extension(content_type) or ''}"


def disposition_name(disposition: str) -> str:
    """The file name in a Content-Disposition header; "" for none."""
    if not disposition:
        return ""
    header = Message()
    header["Content-Disposition"] = disposition
    try:
        return header.get_filename("") or ""
    except (LookupError, UnicodeError):  # an unknown character set
        return ""


def name_in_address(url: str) -> str:
    """The file name at the end of an address, decoded; "" if there is none."""
    try:
        return unquote(urlsplit(url).path.rstrip("/").rpartition("/")[2])
    except ValueError:
        return ""


def usable_name(name: str) -> str:
    """The last part of a name, cleaned and cut for storages; "" when nothing remains."""
    last = name.replace("\\", "/").rstrip("/").rpartition("/")[2]
    clean = "".join(c for c in last if c.isprintable()).strip(" .")
    if len(clean.encode("utf-8", "replace")) <= NAME_BYTES:
        return clean
    stem, dot, ending = clean.rpartition(".")
    if not stem or len(ending) > 16:
        stem, dot, ending = clean, "", ""
    room = NAME_BYTES - len(f"{dot}{ending}".encode("utf-8", "replace"))
    return f"{stem.encode('utf-8', 'replace')[:room].decode('utf-8', 'ignore')}{dot}{ending}"
