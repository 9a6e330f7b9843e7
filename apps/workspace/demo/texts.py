"""What the demo model says when no tool is asked for: honest, and long on request."""

from __future__ import annotations

import re
from collections.abc import Sequence

from apps.agent.tools import ToolSpec
from apps.workspace.demo.labels import tool_title

MOST_PARAGRAPHS = 200
STORY_PARAGRAPHS = 12
SHOWN_TOOLS = 12

WHO = (
    "I am the **built-in demo model** of QuickApps. There is no language model behind me: I look "
    "for the tools that your words point to, call them, and show what they return."
)
HOW_TO_GO_ON = (
    "For real answers, add a deployment with an OpenAI-compatible service in the administration "
    "and name it in the application's manifest."
)
TRICKS = (
    "- *Tell me a long story*, to watch an answer stream and to stop it\n"
    "- *Show me Markdown*, to see how text is formatted"
)

_greeting = re.compile(
    r"\W*(?:hi|hello|hey|howdy|good (?:morning|day|afternoon|evening)|greetings)\b", re.IGNORECASE
)
_thanks = re.compile(r"\W*(?:thanks|thank you|thx|great|cool|nice|bye|goodbye)\b", re.IGNORECASE)
_help = re.compile(
    r"\b(?:help|who are you|what are you|what can you|what do you do|how do you work|what tools)\b",
    re.IGNORECASE,
)
_markdown = re.compile(r"\bmarkdown\b", re.IGNORECASE)
_story = re.compile(r"\b(?:story|tale|(?:long|longer) (?:answer|text|reply))\b", re.IGNORECASE)
_paragraphs = re.compile(
    r"\b(?P<count>\d{1,6}) paragraphs?\b(?:\s+(?:about|on|of)\s+(?P<topic>[^\n.!?]{1,80}))?",
    re.IGNORECASE,
)


def special(text: str) -> str:
    """The long texts that people ask for to see words arrive; "" for other questions."""
    asked = text[:2_000]
    if match := _paragraphs.search(asked):
        return paragraphs(int(match["count"]), (match["topic"] or "nothing in particular").strip())
    return story() if _story.search(asked) else ""


def is_small_talk(text: str) -> bool:
    asked = text[:2_000]
    return any(match(asked) for match in (_greeting.match, _thanks.match, _help.search))


def small_talk(text: str, tools: Sequence[ToolSpec], attachments: int) -> str:
    """What can be said to a question that points to no tool.

    `attachments` is how many files came with it.
    """
    asked = text[:2_000]
    if _markdown.search(asked):
        return MARKDOWN
    if not asked.strip():
        opening = "You wrote no text, and I can read nothing else."
    elif _help.search(asked):
        opening = WHO
    elif _greeting.match(asked):
        opening = f"Hello! {WHO}"
    elif _thanks.match(asked):
        return "You are welcome. I am only the built-in demo, but I will call a tool any time."
    else:
        opening = f"I cannot answer that. {WHO}"
    parts = [opening, abilities(tools), HOW_TO_GO_ON]
    if attachments:
        parts.insert(1, seen(attachments, tools))
    return "\n\n".join(parts)


def seen(attachments: int, tools: Sequence[ToolSpec]) -> str:
    words = f"I see {counted(attachments, 'attached file')}"
    if any(spec.name.endswith("file_read_lines") for spec in tools):
        return f'{words}. Name one in quotes: *Read lines 0 to 20 of "notes.txt"*.'
    return f"{words}, but I cannot read files."


def abilities(tools: Sequence[ToolSpec]) -> str:
    if not tools:
        return f"This application offers me no tools. You can still try:\n\n{TRICKS}"
    lines = [
        f"- **{tool_title(spec.name)}**: {first_sentence(spec.description)}"
        for spec in tools[:SHOWN_TOOLS]
    ]
    if len(tools) > SHOWN_TOOLS:
        lines.append(f"- … and {len(tools) - SHOWN_TOOLS} more")
    listed = "\n".join(lines)
    return f"This application offers me these tools:\n\n{listed}\n\nYou can also try:\n\n{TRICKS}"


def first_sentence(text: str) -> str:
    sentence = re.split(r"(?<=[.!?])\s|\n", text.strip(), maxsplit=1)[0]
    return sentence if len(sentence) <= 160 else f"{sentence[:160]}…"


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


SENTENCES = (
    "It exists so that you can watch words arrive one after the other.",
    "Nothing in it was looked up, and nothing in it was thought.",
    "You may press Stop at any time; what has arrived so far stays.",
    "Scroll up while it grows, and the page leaves you where you are.",
    "Reload the page, and the rest of it still arrives.",
)


def paragraphs(wanted: int, topic: str) -> str:
    """So many paragraphs of filler that says it is filler."""
    count = min(max(wanted, 1), MOST_PARAGRAPHS)
    lines = [
        f"*The demo model knows nothing about {topic}, so these "
        f"{counted(count, 'paragraph')} are filler.*"
    ]
    if wanted > MOST_PARAGRAPHS:
        lines.append(f"*You asked for {wanted:,}; {MOST_PARAGRAPHS} is the most I write.*")
    for number in range(1, count + 1):
        first, second = (SENTENCES[(number + step) % len(SENTENCES)] for step in (0, 2))
        lines.append(f"This is paragraph {number} of {count}. {first} {second}")
    return "\n\n".join(lines)


PLACES = ("a harbour", "a mountain railway", "an old observatory", "a library without doors")
FINDS = ("a brass key", "a map with one road too many", "a letter to nobody", "a humming stone")
TURNS = (
    "The fog came in, and with it a bell that nobody had rung.",
    "Somebody had been there before: the tea was still warm.",
    "By evening the road had moved, as roads there sometimes did.",
    "A fox looked up, decided that all was in order, and went on.",
)


def story() -> str:
    """A long made-up story, the same every time, put together from a few pieces."""
    lines = [
        "# The postman of small hours",
        "*Made up from ready-made pieces by the demo model; no language model wrote it.*",
    ]
    for chapter in range(STORY_PARAGRAPHS):
        place, find, turn = (
            pieces[(chapter * step + chapter // 4) % len(pieces)]
            for pieces, step in ((PLACES, 1), (FINDS, 3), (TURNS, 1))
        )
        lines.append(f"## Night {chapter + 1}")
        lines.append(
            f"The postman of small hours carried what could not wait until morning. On night "
            f"{chapter + 1} his round led him to {place}, where he found {find}. {turn} He wrote "
            f"it down in his book, for he was an orderly man, and counted the steps back: "
            f"{(chapter + 3) * 37} of them, one fewer than on the way there."
        )
    lines.append("And when the book was full, he posted it to himself and slept until noon.")
    return "\n\n".join(lines)


MARKDOWN = """# A heading

Text can be **bold**, *italic*, ~~struck out~~ or `code`, and it can \
[link](https://commonmark.org/help/) to somewhere.

## A list

1. First things first
2. then what follows
   - with a point below
   - and one more

- [x] something done
- [ ] something to do

## A table

| Fruit | Colour | Pieces |
|:------|:------:|-------:|
| Apple | red    |     12 |
| Pear  | green  |      7 |
| Plum  | blue   |     30 |

## Code

```python
def greet(name: str) -> str:
    return f"Hello, {name}!"
```

```json
{"application": "demo", "answers": ["honest", "deterministic"]}
```

> A quotation, which may
> go over several lines.

---

A formula: $a^2 + b^2 = c^2$. That is all of it: the built-in demo model wrote these lines once, \
and repeats them."""
