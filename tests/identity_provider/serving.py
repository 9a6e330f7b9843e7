"""Serve the identity provider within a block."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.sites.fork_server import Fork, fork_server
from tests.sites.serving import Site, wait_until_it_answers

People = dict[str, dict[str, Any]]


@dataclass
class IdentityProvider:
    folder: Path
    process: Fork
    url: str

    def tell(self, people: People) -> None:
        """Set the claims from now on. New users cannot sign in."""
        (self.folder / "people.json").write_text(json.dumps(people))


@contextmanager
def serve_provider(
    folder: Path, port: int, people: People, *addresses: str
) -> Iterator[IdentityProvider]:
    """Serve it. `addresses` are the allowed redirect URIs."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    (folder / "key.pem").write_bytes(pem)
    (folder / "people.json").write_text(json.dumps(people))
    environment = {"PATH": os.environ["PATH"], "PROVIDER_DIR": str(folder)}
    site = Site(f"http://127.0.0.1:{port}", environment, folder / "server.log")
    with site.log.open("ab") as output, Path(os.devnull).open("rb") as nothing:
        files = (nothing.fileno(), output.fileno(), output.fileno())
        arguments = (str(port), *addresses)
        process = fork_server().start("tests.identity_provider", arguments, environment, files)
    try:
        wait_until_it_answers(site, process)
        yield IdentityProvider(folder, process, site.url)
    finally:
        process.stop(60)
