"""Parses the `WWW-Authenticate` header with which a service rejects a token (RFC 6750, RFC
9728).
"""

import re

CHALLENGE_CHARACTERS = 4_000


def challenge_field(challenge: str, name: str) -> str:
    """Return the value of a field in the challenge, or "" if the challenge does not have the
    field.
    """
    pattern = rf'(?:^|[\s,]){name}=(?:"([^"]*)"|([^\s,"]+))'
    found = re.search(pattern, challenge[:CHALLENGE_CHARACTERS])
    return (found[1] or found[2] or "") if found else ""


def lacks_scope(challenge: str) -> bool:
    """Return True if the challenge reports that the token is valid but lacks a required scope."""
    return challenge_field(challenge, "error") == "insufficient_scope"
