"""Properties that are not part of a version change at once, whatever the manifest contains."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError

from apps.catalog.actions import create, set_properties
from apps.catalog.models import Application
from tests.catalog.rows import make_application, manifest_with

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

CALLS_TOURS = manifest_with(
    tool_sets=[
        {
            "type": "dial-deployment",
            "name": "others",
            "tools": [{"type": "dial-deployment-simple", "deployment_id": "tours"}],
        }
    ]
)


def test_the_slug_changes_of_what_was_never_published_and_of_what_has_mistakes():
    draft = Application(slug="draft", title="Draft", manifest=manifest_with())
    create.execute(draft, None)
    broken = make_application("broken")
    Application.objects.filter(pk=broken.pk).update(manifest={"orchestrator": 1})

    for row in (draft, broken):
        set_properties.execute(row, {"slug": f"new-{row.slug}"}, None)

    found = Application.objects.order_by("pk").values_list("slug", "live_number", "manifest")
    assert [*found] == [("new-draft", 0, {}), ("new-broken", 1, {"orchestrator": 1})]


@pytest.mark.parametrize(
    ("slug", "field", "said"),
    [
        ("taken", "slug", "Application with this Slug already exists."),
        ("", "slug", "This field cannot be blank."),
        (
            "two words",
            "slug",
            "Enter a valid “slug” consisting of letters, numbers, underscores or hyphens.",
        ),
        (
            "tours",
            "manifest",
            "tool_sets[0].tools[0].deployment_id: an application cannot call itself: tours",
        ),
    ],
)
def test_a_slug_that_cannot_be_is_refused(slug, field, said):
    make_application("taken")
    row = make_application("travel", manifest=CALLS_TOURS)

    with pytest.raises(ValidationError) as refused:
        set_properties.execute(row, {"slug": slug}, None)

    assert list(refused.value.message_dict) == [field]
    assert said in refused.value.message_dict[field][0]
    assert Application.objects.get(pk=row.pk).slug == "travel"
