"""Finds the skills that users attach to their questions, in the messages'
`custom_content.skills`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from django.conf import settings

from apps.agent.injection import Injection, inject
from apps.agent.messages import ModelMessage
from apps.capabilities.skills.collection import SECTION, TOOL_NAME, SkillCollection
from apps.capabilities.skills.stored_skills import FetchedSkills, SkillAddress
from apps.errors import InitializationIssue

KEY = "skills"
"""The key in `custom_content` for the list of attached skills. Each entry is an object whose `url`
has the form `skills/{bucket}/{path}`.
"""


@dataclass(frozen=True, slots=True)
class Pick:
    """A skill that a user attached to a question."""

    question: int
    """The index of the message among the user's messages."""
    address: SkillAddress


@dataclass(frozen=True, slots=True)
class Picks:
    """The attached skills of a conversation, newest question first, and issues for invalid
    entries.
    """

    picks: tuple[Pick, ...] = ()
    issues: tuple[InitializationIssue, ...] = ()

    @property
    def addresses(self) -> tuple[SkillAddress, ...]:
        return tuple(dict.fromkeys(pick.address for pick in self.picks))


NOTHING = Picks()


def picks_in(messages: Sequence[ModelMessage]) -> Picks:
    """Return the attached skills, up to `SKILL_INVOCATION_MAX_SKILLS` different skills."""
    if not any(KEY in message.extra for message in messages):
        return NOTHING
    questions = [message for message in messages if message.role == "user"]
    picks: list[Pick] = []
    issues: list[InitializationIssue] = []
    for number in range(len(questions) - 1, -1, -1):
        for url in urls_of(questions[number]):
            if url is not None:
                picks.append(Pick(number, SkillAddress("dial-skill", url)))
                continue
            problem = f"custom_content.{KEY}: expected a list of objects with a url."
            issues.append(soft_issue(problem))
    most = settings.SKILL_INVOCATION_MAX_SKILLS
    distinct = list(dict.fromkeys(pick.address for pick in picks))
    if len(distinct) > most:
        problem = (
            f"{len(distinct)} skills were picked; the limit is {most}, so only the newest are used."
        )
        issues.append(soft_issue(problem))
    used = frozenset(distinct[:most])
    kept = tuple(dict.fromkeys(pick for pick in picks if pick.address in used))
    return Picks(kept, tuple({issue.message: issue for issue in issues}.values()))


def urls_of(message: ModelMessage) -> Iterator[str | None]:
    """Yield the URLs of the skills in a message, or None for each invalid entry."""
    written = message.extra.get(KEY)
    if written is None:
        return
    if not isinstance(written, list):
        yield None
        return
    for entry in written:
        url = entry.get("url") if isinstance(entry, Mapping) else None
        yield url if isinstance(url, str) and url.strip() else None


def pick_issues(picks: Picks, fetched: FetchedSkills) -> Iterator[InitializationIssue]:
    for address in picks.addresses:
        if refusal := fetched.refusals.get(address):
            yield soft_issue(f"The picked skill '{address.name}' could not be loaded: {refusal}")


async def with_picks(
    picks: Picks, fetched: FetchedSkills, offered: SkillCollection, messages: Sequence[ModelMessage]
) -> Sequence[ModelMessage]:
    """Insert each attached skill after its question, as if the model had read it."""
    places = [place for place, message in enumerate(messages) if message.role == "user"]
    ordered = sorted(picks.picks, key=attrgetter("question"))
    for pick in reversed(ordered):  # From the end, so that earlier positions do not change.
        read = injection(pick, fetched, offered)
        messages = inject(messages, read, places[pick.question] + 1)
    return messages


def injection(pick: Pick, fetched: FetchedSkills, offered: SkillCollection) -> Injection:
    skill = fetched.skills.get(pick.address)
    name = skill.name if skill is not None else pick.address.name
    if skill is None:
        refusal = fetched.outage or fetched.refusals[pick.address]
        content = f"Error: The skill '{name}' could not be loaded: {refusal}"
    elif offered.skills[name] is not skill:
        content = (
            f"Error: Another skill with the name '{name}' was picked later and is used instead."
        )
    else:
        content = skill.full_text
    identity = f"{pick.question} {pick.address.url}"
    arguments = {"skill_name": name}
    return Injection(TOOL_NAME, arguments, content, "refresh_if_changed", identity=identity)


async def without_picks(messages: Sequence[ModelMessage]) -> Sequence[ModelMessage]:
    if not any(KEY in message.extra for message in messages):
        return messages
    return [
        replace(m, extra={k: v for k, v in m.extra.items() if k != KEY}) if KEY in m.extra else m
        for m in messages
    ]


def soft_issue(text: str) -> InitializationIssue:
    return InitializationIssue(text, section=SECTION, is_hard=False)
