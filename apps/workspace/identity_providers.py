"""Sends requests to identity providers through the guarded client."""

from apps.accounts.sign_in.social import SocialAdapter
from apps.workspace.egress.requests_session import GuardedSession


class GuardedSocialAdapter(SocialAdapter):
    def get_requests_session(self) -> GuardedSession:
        return GuardedSession()
