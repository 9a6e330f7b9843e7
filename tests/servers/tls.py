"""A TLS server whose certificate is signed by an authority of its own."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.servers.http import STOP_SECONDS


def pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def signed(
    name: str, signer: tuple[x509.Name, ec.EllipticCurvePrivateKey] | None = None
) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    """Return a certificate for 127.0.0.1 signed by `signer`, or an authority's without one."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    issuer, issuer_key = signer or (subject, key)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=signer is None, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()),
            critical=False,
        )
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )
    if signer is None:
        usage = x509.KeyUsage(*(name in ("key_cert_sign", "crl_sign") for name in KEY_USAGES))
        builder = builder.add_extension(usage, critical=True)
    return builder.sign(issuer_key, hashes.SHA256()), key


KEY_USAGES = (
    *("digital_signature", "content_commitment", "key_encipherment", "data_encipherment"),
    *("key_agreement", "key_cert_sign", "crl_sign", "encipher_only", "decipher_only"),
)


class Greeting(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *arguments: object) -> None: ...


@contextmanager
def serve_tls(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the address of a server, and the certificate of its authority."""
    authority, authority_key = signed("Harbour Authority")
    certificate, key = signed("Harbour", (authority.subject, authority_key))
    chain = folder / "chain.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    chain.write_bytes(pem(certificate) + private)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain)
    with ThreadingHTTPServer(("127.0.0.1", 0), Greeting) as server:
        server.daemon_threads = True
        server.handle_error = lambda *arguments: None  # type: ignore[method-assign]  # refusals
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, args=(STOP_SECONDS,), daemon=True)
        thread.start()
        try:
            yield f"https://127.0.0.1:{server.server_port}", pem(authority)
        finally:
            server.shutdown()
            thread.join()
