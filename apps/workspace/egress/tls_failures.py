"""Explains TLS failures that a retry does not fix."""

import ssl

PASSING = (ssl.SSLEOFError, ssl.SSLZeroReturnError, ssl.SSLSyscallError)
"""The errors that mean that the connection was interrupted during the handshake."""


def tls_problem(error: BaseException) -> str:
    """Return the reason why a TLS connection was refused, or "" for a failure that a retry may fix."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, ssl.SSLError) and not isinstance(seen, PASSING):
            return f"The TLS connection failed: {reason_of(seen)}."
        seen = seen.__cause__ or seen.__context__
    return ""


def reason_of(error: ssl.SSLError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate was refused ({error.verify_message.rstrip('.')})"
    return "the other side does not speak TLS as expected; use http:// if the service has no TLS"
