"""One row of everything that requests change, mostly owned by the operator who sends them."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

from allauth.idp.oidc.models import Token
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from allauth.socialaccount.models import SocialAccount
from asgiref.sync import async_to_sync
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.core.cache import cache
from django.core.signing import Signer
from django.test import Client
from django.utils import timezone

from apps.a2a.models import PushConfig
from apps.accounts.arrivals import Invitation, SignUp
from apps.accounts.caller import bucket_of, caller_in
from apps.accounts.models import (
    ApiKey,
    ClaimMapping,
    LegalHold,
    Program,
    ProgramConnection,
    ServiceAccount,
    Team,
)
from apps.accounts.oauth.programs import new_secret
from apps.cases.models import CaseRun
from apps.catalog.actions import create, publish, request_publishing, save_draft
from apps.catalog.content.models import ContentItem
from apps.catalog.history.models import Change
from apps.catalog.models import Application, Grant, OperatorKey, SystemMessage, Widget
from apps.catalog.saved_prompts import SavedPrompt
from apps.catalog.versions.version_recorder import save_live
from apps.chat.shares.models import Share
from apps.chat.widget.tokens import new_token, read_token
from apps.conversations.access import reference_of
from apps.conversations.models import Conversation, Folder, Message, QueuedMessage
from apps.doors.client_parameters import NO_TOOLS
from apps.feedback.models import Feedback
from apps.insights.models import Price
from apps.live.doors import A2A
from apps.live.models import Consent, Interaction, Run
from apps.live.run_summary import RunSummary
from apps.notes import store
from apps.notes.content import NoteContent
from apps.notes.store import Author
from apps.responses.models import StoredResponse
from apps.responses.requests import ResponseRequest
from apps.responses.resource import echo_of
from apps.responses.storage import written_echo
from apps.schedules import user_schedules
from apps.schedules.models import Schedule
from apps.schedules.proposals import propose
from apps.triggers.models import Delivery, Subscription, Webhook
from apps.triggers.webhook_secrets import renew_secret
from apps.workspace.local.files import files
from apps.workspace.local.memories.memories import LocalMemories
from apps.workspace.local.models import (
    McpServer,
    MemoryCollection,
    MemoryMerge,
    PersonalKey,
    Secret,
    SharedFile,
    ToolAccount,
)
from apps.workspace.local.tools.description import ToolDescription
from apps.workspace.local.tools.description_pins import (
    DescribedTool,
    DescriptionSource,
    withheld_of,
)
from apps.workspace.memories import operations
from apps.workspace.memories.port import MemoryItem
from apps.workspace.oauth.services import SignInService
from tests.cases.rows import make_case
from tests.catalog.rows import make_application, make_deployment, make_operator
from tests.chat.shares.talks import OPEN, add_turn
from tests.insights.budgets.rows import make_budget
from tests.workspace.embeddings.hashed import HashedEmbedder

PASSWORD = "a-password-for-tests"
PNG = (
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4"
    b"\x89\x00\x00\x00\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\x00\x05\x00\x01\xff\x89\x99=\x1d\x00\x00\x00\x00"
    b"IEND\xaeB`\x82"
)


class World:
    """Its attributes are those that paths and bodies of calls name as `{w.…}`."""

    def __init__(self) -> None:
        self.people()
        self.applications()
        self.conversations()
        self.operated()
        self.own()
        self.changes = {
            row._meta.model_name: Change.objects.filter(
                kind__contains=row._meta.model_name, object_id=row.pk
            ).last()
            for row in (
                self.application,
                self.case,
                self.item,
                self.asked,
                self.server,
                self.secret,
            )
        }
        self.sessions = {name: self.session_of(name) for name in ("operator", "grace")}
        self.security_key = Authenticator.objects.create(
            user=self.grace, type="webauthn", data={"name": "Green", "credential": {}}
        )
        TOTP.activate(self.grace, generate_totp_secret())
        cache.clear()

    def session_of(self, name: str) -> str:
        client = Client()
        client.post("/accounts/login/", {"username": name, "password": PASSWORD})
        client.post("/accounts/reauthenticate/", {"password": PASSWORD})
        return client.cookies["sessionid"].value

    def clear_caches(self) -> None:
        cache.clear()

    def people(self) -> None:
        self.operator = make_operator()
        self.bucket = bucket_of(self.operator.pk)
        self.grace = User.objects.create_user("grace", "grace@example.org", PASSWORD)
        self.group = Group.objects.create(name="readers")
        team_group = Group.objects.create(name="desk")
        self.other_administrator = User.objects.create_user("ada")
        team_group.user_set.add(self.operator, self.other_administrator)
        self.team = Team.objects.create(group=team_group)
        self.team.administrators.add(self.operator, self.other_administrator)
        self.robot = User.objects.create_user("robot")
        self.account = ServiceAccount.objects.create(user=self.robot)
        self.waiting = User.objects.create_user("waiting", is_active=False)
        self.sign_up = SignUp.objects.create(
            user=self.waiting, needs_confirmation=False, needs_approval=True
        )
        self.invitation = Invitation.objects.create(token_hash="1" * 64)
        self.hold = LegalHold.objects.create(
            owner="visitor-1", conversation=uuid4(), reason="Case 7"
        )
        self.linked = SocialAccount.objects.create(user=self.grace, provider="keycloak", uid="1")
        self.connect_program()
        self.claim = ClaimMapping.objects.create(
            provider="keycloak", value="staff", group=self.group
        )
        self.key, self.written_key = ApiKey.objects.create_key(name="script", user=self.operator)
        self.operator_key = OperatorKey.objects.create_key(name="ci", user=self.operator)[0]

    def connect_program(self) -> None:
        """Connect a program, and open the page on which the user connects it again."""
        back = "http://127.0.0.1:4000/callback"
        self.program = Program(id="editor", name="Editor", scopes="mcp", data={})
        self.program.set_grant_types(["authorization_code", "refresh_token"])
        self.program.set_redirect_uris([back])
        self.program_secret = new_secret(self.program)
        self.program.save()
        self.blocked_program = Program.objects.create(name="Bad", data={"blocked": True})
        self.connection = ProgramConnection.objects.create(user=self.operator, program=self.program)
        self.refresh_token = "a-refresh-token"
        token = Token(type="rt", client=self.program, user=self.operator, scopes="mcp")
        token.set_value(self.refresh_token)
        token.set_resources([f"{settings.PUBLIC_URL}/mcp"])
        token.save()
        asked = {
            "client_id": self.program.pk,
            "redirect_uri": back,
            "response_type": "code",
            "state": "s",
            "code_challenge": "c" * 43,
            "code_challenge_method": "S256",
            "resources": token.get_resources(),
        }
        self.signed_request = Signer().sign_object((["mcp"], asked))

    def applications(self) -> None:
        self.deployment = make_deployment()
        self.asked = make_deployment(
            "asked", provider="openai", base_url="https://127.0.0.1:1/v1", takes_personal_keys=True
        )
        make_deployment(
            "numbers", kind="embedding", provider="openai", base_url="https://127.0.0.1:1/v1"
        )
        manifest = {
            **OPEN,
            "orchestrator": {"deployment": {"deployment_id": "demo-model"}},
            "features": {**OPEN["features"], "input_attachment_types": ["*/*"]},
            "tool_sets": [{"type": "internal", "name": "notes", "tools": [], "user_switch": "off"}],
        }
        self.application = make_application(owner=self.operator, manifest=manifest, is_public=True)
        self.application.description = "Trips"
        save_live(self.application)
        self.widget = Widget.objects.create(
            application=self.application,
            is_enabled=True,
            origins=["https://shop.example"],
            identity_key="a-key-of-the-widget-with-enough-characters",
        )
        self.visitor_token = new_token(self.widget, "https://shop.example", "ada").write()
        self.other = make_application("hotel", owner=self.operator, manifest=manifest)
        self.archived = make_application("old", owner=self.operator, archived_at=timezone.now())
        self.disabled = make_application("disabled", owner=self.operator, is_enabled=False)
        self.drafted = Application(
            slug="drafted", title="Drafted", owner=self.operator, manifest=manifest
        )
        create.execute(self.drafted, self.operator)
        save_draft.execute(self.other, {"title": "Motel"}, None, self.operator)
        publish.execute(self.other, "Second", user=self.operator)
        save_draft.execute(self.other, {"title": "Hostel"}, None, self.operator)
        self.hotel = self.other
        self.guarded = self.guarded_application("guarded")
        self.requested = self.guarded_application("requested")
        request_publishing.execute(self.requested, "Please", self.grace)
        self.grant = Grant.objects.create(application=self.application, group=self.group)
        self.case = make_case(self.application, "Greets", {"kind": "contains", "text": "hello"})
        self.case_run = CaseRun.objects.create(
            application=self.application, started_by=self.operator
        )

    def guarded_application(self, slug: str) -> Application:
        """Return an application with a draft that needs two people to publish."""
        row = make_application(slug, owner=self.operator, needs_second_publisher=True)
        save_draft.execute(row, {"title": slug}, None, self.operator)
        return row

    def conversations(self) -> None:
        self.conversation = Conversation.objects.create(
            application=self.application, owner=self.bucket, title="A trip"
        )
        self.turn = add_turn(self.conversation)
        self.asked_message = self.conversation.messages.get(role="user")
        self.answer = self.conversation.messages.get(role="assistant")
        self.deleted = Conversation.objects.create(
            application=self.application,
            owner=self.bucket,
            title="Gone",
            deleted_at=timezone.now(),
        )
        self.temporary = Conversation.objects.create(
            application=self.application,
            owner=self.bucket,
            title="Short",
            temporary_until=timezone.now() + timedelta(days=1),
        )
        self.unread = Conversation.objects.create(
            application=self.application, owner=self.bucket, title="New", is_unread=True
        )
        keys_bucket = f"key-{self.key.prefix}"
        self.keys_conversation = Conversation.objects.create(
            application=self.application, owner=keys_bucket, title="Of a key"
        )
        self.keys_run = Run.objects.create(
            stream=self.keys_conversation.pk,
            request=uuid4(),
            application="travel",
            application_pk=self.application.pk,
            bucket=keys_bucket,
            status="waiting",
        )
        Interaction.objects.create(
            run=self.keys_run,
            key="call-1",
            kind="client_tool",
            asked={"name": "scroll", "arguments": {}, "permission": ""},
        )
        stored = Conversation.objects.create(
            application=self.application, owner=keys_bucket, title="Stored response"
        )
        self.stored_run = Run.objects.create(
            stream=stored.pk,
            request=uuid4(),
            application="travel",
            application_pk=self.application.pk,
            bucket=keys_bucket,
            status="done",
        )
        Message.objects.create(conversation=stored, run=self.stored_run, role="user", text="Hi")
        echo = written_echo(echo_of(ResponseRequest("Hi"), NO_TOOLS))
        for run in (self.keys_run, self.stored_run):
            StoredResponse.objects.create(run=run, is_background=True, echo=echo)
        files.keep(keys_bucket, "old.txt", b"old", "text/plain")
        agents = Conversation.objects.create(
            application=self.application, owner=keys_bucket, title="Of an agent"
        )
        self.agents_task = Run.objects.create(
            stream=agents.pk,
            request=uuid4(),
            application="travel",
            application_pk=self.application.pk,
            bucket=keys_bucket,
            status="waiting",
            door=A2A,
        )
        Message.objects.create(conversation=agents, run=self.agents_task, role="user", text="Hi")
        PushConfig.objects.create(run=self.agents_task, name="ci", url="https://example.org/a")
        self.visitor = read_token(self.visitor_token).bucket
        self.visited = Conversation.objects.create(application=self.application, owner=self.visitor)
        self.visited_answer = Message.objects.create(
            conversation=self.visited, role="assistant", text="Hello"
        )
        self.rated_answer = Message.objects.create(
            conversation=self.visited, role="assistant", text="Again"
        )
        Feedback.objects.create(
            message=self.rated_answer.uuid,
            conversation=self.visited.pk,
            application=self.application,
            bucket=self.visitor,
            rating="up",
        )
        files.keep(self.visitor, f"conversations/{self.visited.pk}/a.txt", b"a", "text/plain")
        self.folder = Folder.objects.create(owner=self.bucket, name="Riga", position=1)
        self.share = Share.objects.create(
            conversation=self.conversation,
            user=self.operator,
            owner=self.bucket,
            title="A trip",
            turns=[],
            audience=Share.Audience.ANYONE,
        )
        self.feedback = Feedback.objects.create(
            message=uuid4(),
            conversation=self.conversation.pk,
            application=self.application,
            bucket=self.bucket,
            rating="down",
        )
        self.summary = RunSummary.objects.create(
            door="page", application="travel", bucket=self.bucket, status="done"
        )
        self.open_run = Run.objects.create(
            stream=self.temporary.pk,
            request=uuid4(),
            application="travel",
            application_pk=self.application.pk,
            bucket=self.bucket,
            status="waiting",
        )
        self.asked_card = Interaction.objects.create(
            run=self.open_run,
            key="call-1",
            kind="approval",
            asked={"name": "lend", "arguments": {}, "options": ["once"]},
        )
        self.queued = QueuedMessage.objects.create(
            conversation=self.temporary,
            request=uuid4(),
            position=1,
            text="Later",
            caller=reference_of(caller_in(self.operator.pk, None)),
        )
        self.called = Interaction.objects.create(
            run=self.open_run,
            key="call-2",
            kind="client_tool",
            asked={"name": "scroll", "arguments": {}, "permission": ""},
        )
        self.question = Interaction.objects.create(
            run=self.open_run,
            key="call-3",
            kind="question",
            asked={
                "question": "Which?",
                "options": [],
                "input": "single",
                "freeform": True,
                "required": False,
            },
        )
        going = Conversation.objects.create(
            application=self.application, owner=self.bucket, title="Going"
        )
        self.running_run = Run.objects.create(
            stream=going.pk,
            request=uuid4(),
            application="travel",
            application_pk=self.application.pk,
            bucket=self.bucket,
        )
        self.elicited = Interaction.objects.create(
            run=self.running_run,
            key="call-4",
            kind="elicitation",
            asked={"mode": "form", "message": "Name?", "fields": []},
        )
        self.sign_in = Interaction.objects.create(
            run=self.open_run, key="call-5", kind="sign_in", asked={"account": str(uuid4())}
        )
        self.file = files.keep(self.bucket, "appdata/a.txt", b"stored", "text/plain")

    def operated(self) -> None:
        self.secret = Secret.objects.create(name="weather", value="s3cret", servers=["a.example"])
        self.server = McpServer.objects.create(name="local", command="true")
        self.item = ContentItem.objects.create(kind="prompt", name="greeting", text="Say hello.")
        self.price = Price.objects.create(
            deployment=self.deployment, valid_from="2026-01-01", currency="USD", input=1, output=2
        )
        self.budget = make_budget(application=self.application)
        self.shared_file = SharedFile.objects.create(
            bucket="public",
            name="logo.txt",
            storage_name="none",
            content_type="text/plain",
            size=1,
            etag="1",
        )
        self.message = SystemMessage.objects.create(text="Soon closed.")
        for text in ("Lends.", "Lends all."):
            withheld_of(
                DescriptionSource("key", "mcp.example.org"), [DescribedTool("lend", text, text)]
            )
        self.description = ToolDescription.objects.get(state="changed")
        self.webhook = Webhook(
            name="Orders",
            application=self.application,
            account=self.account,
            check_kind="key",
            saved_by=self.operator,
        )
        self.webhook_key = renew_secret(self.webhook)
        self.webhook.save()
        self.subscription = Subscription.objects.create(
            name="Runs", owner=self.operator, url="https://example.org/", events=["run.done"]
        )
        self.delivery = Delivery.objects.create(
            subscription=self.subscription,
            event="run.done",
            run=uuid4(),
            door="page",
            application="travel",
            status=Delivery.Status.DEAD,
        )

    def own(self) -> None:
        self.shared_prompt = SavedPrompt.objects.create(name="all", title="All", text="Of all.")
        self.prompt = SavedPrompt.objects.create(
            name="hi", title="Hi", text="Hi!", user=self.operator
        )
        person = Author(None)
        self.note = store.create(
            self.bucket, NoteContent("Riga", "By the sea.", ("town",), {}), person
        )
        self.note = store.change(self.note, NoteContent("Riga", "Far.", ("town",), {}), person)
        gone = store.create(self.bucket, NoteContent("Oslo", "North.", (), {}), person)
        store.delete(gone, person)
        self.gone = gone
        remembered = LocalMemories(self.bucket, "travel")
        async_to_sync(operations.add)(remembered, HashedEmbedder(), MemoryItem(1, "Likes tea"))
        self.collection = MemoryCollection.objects.get()
        MemoryMerge.objects.create(
            collection=self.collection, number=1, survivor=1, merged_at=timezone.now(), originals=[]
        )
        self.tool_account = ToolAccount.objects.create(
            bucket=self.bucket,
            server="https://mcp.example.org",
            title="Books",
            service=SignInService("https://mcp.example.org", "", "", "").as_json(),
            connected_at=timezone.now(),
        )
        self.personal_key = PersonalKey.objects.create(
            user=self.operator, provider="openai", origin="https://127.0.0.1:1", key="sk-1"
        )
        self.consent = Consent.objects.create(
            bucket=self.bucket, application=self.application, tool="lend", mode="always"
        )
        self.schedule = self.scheduled(self.operator)
        self.paused_schedule = self.scheduled(self.robot)
        user_schedules.pause(self.paused_schedule, "")
        propose(self.schedule, {"expression": "0 8 * * *"}, "grace")
        self.robots_schedule = self.scheduled(self.robot)

    def scheduled(self, user: User) -> Schedule:
        row = Schedule(
            application=self.application,
            user=user,
            owner=bucket_of(user.pk),
            caller=reference_of(caller_in(user.pk, None)),
            name="Report",
            message="What is new?",
            kind="cron",
            expression="0 9 * * *",
        )
        row.plan(timezone.now())
        row.save()
        return row
