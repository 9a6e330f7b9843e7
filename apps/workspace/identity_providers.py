"""How services are asked who somebody is: through the guarded way out."""

from apps.accounts.social import SocialAdapter
from apps.workspace.egress.requests_session import GuardedSession


class GuardedSocialAdapter(SocialAdapter):
    def get_requests_session(self) -> GuardedSession:
        return GuardedSession()
