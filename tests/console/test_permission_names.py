import pytest
from django.contrib.auth.models import Permission

from apps.console.permission_names import rename_permissions

pytestmark = pytest.mark.django_db


def test_permissions_get_the_current_names_of_their_models():
    current = dict(Permission.objects.values_list("pk", "name"))
    Permission.objects.filter(content_type__app_label="runs").update(name="Can do it")

    rename_permissions("default")

    assert dict(Permission.objects.values_list("pk", "name")) == current


def test_a_permission_that_no_model_declares_keeps_its_name():
    row = Permission.objects.get(codename="view_application")
    own = Permission.objects.create(
        codename="dance", name="Can dance", content_type=row.content_type
    )

    rename_permissions("default")

    own.refresh_from_db()
    assert own.name == "Can dance"


def test_names_are_compared_with_one_query(django_assert_num_queries):
    with django_assert_num_queries(1):
        rename_permissions("default")
