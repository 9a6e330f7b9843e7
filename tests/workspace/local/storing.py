"""Store 20 facts concurrently when a line arrives.

python -m tests.workspace.local.storing NAME
"""

import asyncio
import sys

import django

COUNT = 20


async def store_all(name: str) -> None:
    from apps.accounts.caller import Caller
    from apps.workspace.local.workspace import LocalWorkspace
    from apps.workspace.memories.operations import add, new_memory
    from tests.workspace.embeddings.hashed import HashedEmbedder

    workspace = LocalWorkspace(Caller("key-1", "key")).inside("travel")
    store = await workspace.memories()
    assert store is not None
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    facts = [new_memory(f"{name}, fact {number}") for number in range(COUNT)]
    await asyncio.gather(*(add(store, HashedEmbedder(), fact) for fact in facts))


if __name__ == "__main__":
    django.setup()
    asyncio.run(store_all(sys.argv[1]))
