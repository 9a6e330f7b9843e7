"""Parses the URL of a bucket, `s3://bucket/prefix?endpoint=…&region=…`."""

import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

ACCEPTED = (
    "s3://bucket or s3://bucket/prefix, with the parameters endpoint (https://host) and region"
)
PARAMETERS = frozenset({"endpoint", "region"})

_bucket = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_prefix = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)*", re.ASCII)
_endpoint = re.compile(r"https?://[^/?#@\s]+(/[^?#@\s]*)?")


@dataclass(frozen=True, slots=True)
class BucketAddress:
    """A parsed bucket URL. If `endpoint` or `region` is "", AWS environment variables or AWS's
    defaults apply.
    """

    bucket: str
    prefix: str = ""
    endpoint: str = ""
    region: str = ""

    def __str__(self) -> str:
        return f"s3://{self.bucket}/{self.prefix}".rstrip("/")


def parse_bucket_address(text: str) -> BucketAddress:
    """Parse a bucket URL. Raises `ValueError` if it is invalid."""
    parts = urlsplit(text)
    prefix = parts.path.strip("/")
    given = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    parameters = dict(given)
    endpoint = parameters.get("endpoint", "").rstrip("/")
    if (
        parts.scheme != "s3"
        or parts.fragment
        or not _bucket.fullmatch(parts.netloc)
        or (prefix and not _prefix.fullmatch(prefix))
        or not parameters.keys() <= PARAMETERS
        or len(given) > len(parameters)
        or (endpoint and not _endpoint.fullmatch(endpoint))
    ):
        raise ValueError(text)
    return BucketAddress(parts.netloc, prefix, endpoint, parameters.get("region", ""))
