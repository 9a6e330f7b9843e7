"""Properties that hold for every document, not only for written examples."""

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.manifest.manifest import Manifest
from apps.manifest.orchestrator import is_limit
from apps.manifest.parts import parts_in_use
from apps.manifest.validation.validation import Review, read_manifest, review
from tests.manifest.documents import DATA, EXAMPLES, example, with_credentials
from tests.manifest.variations import variations

REFERENCE = json.loads((DATA / "app-schema.json").read_text())

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.text(st.characters(), max_size=5)
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(values, st.booleans())
def test_any_value_is_reviewed(value, preview):
    assert isinstance(review(value, preview=preview), Review)


@given(st.data(), st.sampled_from(EXAMPLES), values, st.booleans())
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_any_damage_to_an_example_is_reviewed(data, name, value, preview):
    document = example(name)
    holder, key = data.draw(st.sampled_from(list(members(document))))
    holder[key] = value

    told = review(document, preview=preview)

    assert all(problem.path and problem.message for problem in told.errors + told.warnings)


def members(value: Any) -> Any:
    """Yield every location of a document that can be written to."""
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from members(value[key])


@given(variations(REFERENCE), st.booleans())
@settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
def test_what_the_reference_accepts_loads(document, preview):
    manifest = read_manifest(document, preview=preview)

    assert isinstance(manifest, Manifest)
    assert isinstance(parts_in_use(manifest), tuple)
    refused = [problem.path for problem in review(document, preview=preview).errors]
    # The reference accepts any integer as a number of calls.
    has_limit = is_limit(manifest.orchestrator.max_iterations)
    assert refused == ([] if has_limit else ["orchestrator.max_iterations"])
    assert read_manifest(with_credentials(manifest, document), preview=preview) == manifest
