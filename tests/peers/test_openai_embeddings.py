"""Embeddings for OpenAI's own client, against the real site."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import openai
import pytest

from tests.sites.gateway import Gateway

MINILM = "all-minilm-l6-v2"
PREPARE = """
from apps.accounts.models import ApiKey
from apps.workspace.local.models import Deployment
Deployment.objects.get_or_create(
    deployment_id=name,
    defaults={"display_name": "Vectors", "kind": "embedding", "provider": "minilm"},
)
row, result = ApiKey.objects.create_key(name="embeddings")
"""


@pytest.fixture(scope="module")
def key(gateway: Gateway) -> str:
    return str(gateway.site.shell(PREPARE, name=MINILM))


@pytest.fixture
def client(gateway: Gateway, key: str) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{gateway.url}/v1", api_key=key, max_retries=0) as opened:
        yield opened


def test_the_client_reads_what_it_asks_for(client: openai.OpenAI):
    """The client requests base64 by default."""
    texts = ["a cat", "a kitten", "interest rates"]

    packed = client.embeddings.create(model=MINILM, input=texts)
    plain = client.embeddings.create(model=MINILM, input=texts, encoding_format="float")

    rows = np.array([item.embedding for item in packed.data])
    np.testing.assert_allclose(rows, [item.embedding for item in plain.data], atol=1e-7)
    assert rows[0] @ rows[1] > 0.5 > rows[0] @ rows[2]
    assert (packed.model, packed.usage.prompt_tokens) == (MINILM, 12)


def test_the_client_of_azure_names_the_model_in_the_address(gateway: Gateway, key: str):
    with openai.AzureOpenAI(
        azure_endpoint=gateway.url, api_key=key, api_version="2025-01-01", max_retries=0
    ) as client:
        found = client.embeddings.create(model=MINILM, input="tea")

    assert len(found.data[0].embedding) == 384


def test_the_client_is_told_what_is_wrong(client: openai.OpenAI):
    with pytest.raises(openai.BadRequestError, match="Tokens are not supported"):
        client.embeddings.create(model=MINILM, input=[1, 2, 3])
    with pytest.raises(openai.NotFoundError, match="no embeddings deployment named 'ada'"):
        client.embeddings.create(model="ada", input="tea")


def test_a_limited_key_finds_nothing(gateway: Gateway):
    with (
        openai.OpenAI(base_url=f"{gateway.url}/v1", api_key=gateway.key, max_retries=0) as client,
        pytest.raises(openai.NotFoundError),
    ):
        client.embeddings.create(model=MINILM, input="tea")
