from django.apps import AppConfig

from apps.accounts.text_lookups import register_lookup
from apps.admin_pages import AdminPage
from apps.chores import Chore


class AccountsConfig(AppConfig):
    name = "apps.accounts"
    verbose_name = "Access"
    admin_pages = (
        AdminPage(
            "Govern",
            60,
            "Audit",
            "scroll-text",
            "accounts.auditentry",
            "Sign-ins, permission changes and reads of content: who did what, and when.",
        ),
        AdminPage(
            "Govern",
            61,
            "Legal holds",
            "",
            "accounts.legalhold",
            "User data that cannot be deleted until the hold is lifted.",
            below="Audit",
        ),
        AdminPage(
            "Govern",
            62,
            "Erasure reports",
            "",
            "accounts.erasurereport",
            "What was removed, and what had to be retained, when an account was erased.",
            below="Audit",
        ),
        AdminPage(
            "Govern",
            50,
            "API keys",
            "key-round",
            "accounts.apikey",
            "Keys for programs that call applications, each with its own rate limits.",
        ),
        AdminPage(
            "Govern",
            52,
            "Connected programs",
            "",
            "accounts.programconnection",
            "MCP clients that users have connected to their accounts with OAuth.",
            below="API keys",
        ),
        AdminPage(
            "Govern",
            53,
            "Programs",
            "",
            "accounts.program",
            "OAuth clients that can ask users for access. You can register, block and delete them.",
            below="API keys",
        ),
        AdminPage(
            "Govern",
            10,
            "Users",
            "user",
            "auth.user",
            "User accounts, with their groups and permissions.",
        ),
        AdminPage(
            "Govern",
            11,
            "Service accounts",
            "",
            "accounts.serviceaccount",
            "Accounts for programs, which have API keys instead of a password.",
            below="Users",
        ),
        AdminPage(
            "Govern",
            12,
            "Sign-ups",
            "",
            "accounts.signup",
            "New accounts that wait for approval or for the confirmation of their address.",
            below="Users",
        ),
        AdminPage(
            "Govern",
            13,
            "Invitations",
            "",
            "accounts.invitation",
            "Links for one sign-up each, with the groups that you select.",
            below="Users",
        ),
        AdminPage(
            "Govern",
            14,
            "Social accounts",
            "",
            "socialaccount.socialaccount",
            "Accounts at identity providers with which users sign in.",
            below="Users",
        ),
        AdminPage(
            "Govern",
            20,
            "Groups",
            "shield",
            "auth.group",
            "Sets of permissions, and of access to applications, that users share.",
        ),
        AdminPage(
            "Govern",
            21,
            "Groups of identity providers",
            "",
            "accounts.claimmapping",
            "Claims of identity providers that add users to a group when they sign in.",
            below="Groups",
        ),
        AdminPage(
            "Govern",
            30,
            "Teams",
            "users",
            "accounts.team",
            "Users who share applications, notes and budgets.",
        ),
    )
    default_auto_field = "django.db.models.BigAutoField"
    chores = (
        Chore("Delete audit events", "apps.accounts.audit.delete_old", days="AUDIT_DAYS"),
        Chore(
            "Delete accounts with an unconfirmed address",
            "apps.accounts.sign_up.sign_up.delete_unconfirmed",
        ),
        Chore("Delete expired sessions", "apps.accounts.sign_in.sessions.delete_expired"),
        Chore("Delete expired tokens", "apps.accounts.oauth.programs.delete_expired_tokens"),
        Chore(
            "Delete programs that no user has connected",
            "apps.accounts.oauth.programs.delete_unconnected",
        ),
    )

    def ready(self) -> None:
        register_lookup()
