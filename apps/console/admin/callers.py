"""The names of those on whose behalf something runs."""

from collections.abc import Iterable

from django.contrib.auth.models import User

from apps.accounts.models import ApiKey


def caller_names(buckets: Iterable[str]) -> dict[str, str]:
    """The names of users and of API keys, by bucket; of all others, the bucket itself."""
    wanted = set(buckets)
    users = [one[5:] for one in wanted if one.startswith("user-") and one[5:].isdecimal()]
    prefixes = [one[4:] for one in wanted if one.startswith("key-")]
    names = User.objects.filter(pk__in=users).values_list("pk", "username")
    keys = ApiKey.objects.filter(prefix__in=prefixes).values_list("prefix", "name")
    return {
        **{bucket: bucket for bucket in wanted},
        **{f"user-{pk}": name for pk, name in names},
        **{f"key-{prefix}": f"key {name}" for prefix, name in keys},
    }
