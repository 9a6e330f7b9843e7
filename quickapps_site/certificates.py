"""Makes all libraries that verify TLS connections trust the operator's certificate authorities."""

import os
import re
import ssl
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

AUTHORITIES_FOLDER = Path("/certificates")
"""The folder with the certificates of the operator's certificate authorities."""

_certificate = re.compile(r"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)


def trust_authorities(folder: Path, bundle: Path) -> None:
    """Write the default authorities and each `*.crt` in `folder` to the file `bundle`, and set the
    environment variables that point libraries to it.

    The default authorities come from `SSL_CERT_FILE` or else from the system. OpenSSL reads this
    variable; `requests`, which exporters use, reads `REQUESTS_CA_BUNDLE`. Raises
    `ImproperlyConfigured` if a file cannot be used.
    """
    own = sorted(folder.glob("*.crt"))
    if not own:
        raise ImproperlyConfigured(
            f"USE_SYSTEM_CA_CERTS is set, but {folder} has no *.crt file. Add your "
            "CA certificates to this folder."
        )
    certificates = dict.fromkeys(certificates_of([*usual_bundle(), *own]))
    write_at_once(bundle, "".join(f"{one}\n" for one in certificates))
    os.environ["SSL_CERT_FILE"] = str(bundle)
    os.environ.setdefault("REQUESTS_CA_BUNDLE", str(bundle))


def usual_bundle() -> list[Path]:
    """Return the file of certificates that OpenSSL trusts by default, or [] if it does not exist."""
    if named := os.environ.get("SSL_CERT_FILE"):
        return [Path(named)]
    known = (ssl.get_default_verify_paths().openssl_cafile, "/etc/ssl/certs/ca-certificates.crt")
    return [path for path in map(Path, known) if path.is_file()][:1]


def certificates_of(sources: Iterable[Path]) -> Iterator[str]:
    """Yield the certificates in the files. Raises `ImproperlyConfigured` if a file cannot be read
    or contains no certificate.
    """
    for source in sources:
        try:
            found = _certificate.findall(source.read_text())
            if not found:
                raise ValueError("it has no certificate in PEM format")
            ssl.create_default_context(cadata="\n".join(found))
        except (OSError, ValueError) as error:  # `ssl.SSLError` is an `OSError`.
            raise ImproperlyConfigured(f"{source} is not a certificate file: {error}.") from error
        yield from found


def write_at_once(path: Path, text: str) -> None:
    """Replace the file's content atomically, because other processes may be reading it. Do nothing
    if it is unchanged.
    """
    if path.is_file() and path.read_text() == text:
        return
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".")
    with os.fdopen(handle, "w") as file:
        file.write(text)
    Path(name).replace(path)
