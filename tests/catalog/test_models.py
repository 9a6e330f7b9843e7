from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError

from apps.catalog.actions.save_rules import check_row
from apps.catalog.models import Application
from apps.catalog.review.manifests import review_manifest
from tests.catalog.rows import make_application, make_deployment, manifest_with

pytestmark = pytest.mark.django_db


def test_a_partial_save_counts_too():
    application = make_application()

    application.title = "Other"
    application.save(update_fields=["title"])

    assert (application.version, Application.objects.get().version) == (2, 2)


def test_a_save_that_fails_leaves_the_version():
    make_application("one")
    two = make_application("two")
    two.slug = "one"

    with pytest.raises(IntegrityError):
        two.save()

    assert two.version == 1


def test_the_smallest_manifest_is_valid():
    make_deployment("demo-model")
    application = Application(slug="small", title="Small")

    check_row(application)

    assert review_manifest(application.manifest).warnings == ()


def test_a_broken_manifest_is_refused_with_its_paths():
    application = Application(slug="x", title="X", manifest=manifest_with(contexts=3))

    with pytest.raises(ValidationError) as refused:
        check_row(application)

    [line] = refused.value.message_dict["manifest"]
    assert line.startswith("contexts: ")
