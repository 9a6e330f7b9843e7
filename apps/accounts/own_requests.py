"""Recognizes requests that this site sends to itself."""

from django.conf import settings
from django.http.request import split_domain_port, validate_host

OWN_REQUEST = "quickapps-request"
"""The header by which the site recognizes requests that it sends to its own URL."""


def is_own_host(host: str) -> bool:
    domain, _ = split_domain_port(host)
    return bool(domain) and validate_host(domain, settings.ALLOWED_HOSTS)
