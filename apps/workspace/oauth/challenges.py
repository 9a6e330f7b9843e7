"""The header with which a server asks for a token."""

import re

CHALLENGE_CHARACTERS = 4_000


def challenge_field(challenge: str, name: str) -> str:
    """The value of a field of `WWW-Authenticate`, "" if it has none."""
    pattern = rf'(?:^|[\s,]){name}=(?:"([^"]*)"|([^\s,"]+))'
    found = re.search(pattern, challenge[:CHALLENGE_CHARACTERS])
    return (found[1] or found[2] or "") if found else ""
