"""Sets the content security policy of each page.

`settings.CONTENT_SECURITY_POLICIES` maps URL names to directives that override the strict defaults.
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
