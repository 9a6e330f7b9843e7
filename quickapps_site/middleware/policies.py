"""Sets the content security policy of each page: the strict default, or a looser one for some URLs.

`settings.CONTENT_SECURITY_POLICIES` maps the names of URLs to the directives that are replaced.
"""

from csp.middleware import CSPMiddleware, PolicyParts
from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import reverse


class PathPolicyMiddleware(CSPMiddleware):
    def get_policy_parts(
        self, request: HttpRequest, response: HttpResponseBase, report_only: bool = False
    ) -> PolicyParts:
        parts = super().get_policy_parts(request, response, report_only)
        for name, directives in settings.CONTENT_SECURITY_POLICIES.items():
            if request.path_info.startswith(reverse(name)):
                parts.replace = directives  # type: ignore[assignment]  # settings are not typed
        return parts
