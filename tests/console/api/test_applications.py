from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from apps.catalog.actions import save_draft
from apps.catalog.models import Application, Grant, OperatorKey, Role, empty_manifest
from apps.catalog.versions.definitions import definition_of
from tests.catalog.rows import make_application, make_operator, manifest_with
from tests.console.pages import permit, script_of, staff_account
from tests.contract import proves

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("demo_model"), pytest.mark.postgres]

URL = "/api/applications/"


def test_an_application_is_created_read_changed_and_deleted(api):
    created = api.post(URL, {"slug": "travel", "title": "Travel", "manifest": empty_manifest()})
    read = api.get(f"{URL}travel/")
    changed = api.patch(f"{URL}travel/", {"title": "Journeys"})
    deleted = api.delete(f"{URL}travel/")

    assert [created.status_code, read.status_code, changed.status_code] == [201, 200, 200]
    assert read.data == created.data
    assert (read.data["manifest"], read.data["warnings"]) == (empty_manifest(), [])
    assert (read["ETag"], changed["ETag"]) == ('"1"', '"2"')
    assert (changed.data["title"], changed.data["version"]) == ("Journeys", 2)
    assert deleted.status_code == 204
    archived = api.get(f"{URL}travel/").data
    assert (archived["state"], archived["is_enabled"], archived["live_number"]) == (
        "archived",
        False,
        2,
    )


def test_mistakes_in_a_manifest_have_their_paths_and_nothing_is_saved(api):
    make_application("travel", title="Travel")
    broken = manifest_with(tool_sets=[{"type": "mcp", "name": "files"}])

    answer = api.patch(f"{URL}travel/", {"title": "Other", "manifest": broken})

    assert answer.status_code == 400
    assert answer.data["detail"] == "Nothing was saved."
    assert [found["path"] for found in answer.data["errors"]] == [
        "manifest.tool_sets[0].mcp_server_info"
    ]
    assert Application.objects.get().title == "Travel"


@proves("R-01")
@pytest.mark.parametrize(("limit", "status"), [(7, 201), (-1, 201), (0, 400)])
def test_r_01_the_limit_of_other_systems_is_stored_as_ours_and_is_not_zero(api, limit, status):
    manifest = empty_manifest() | {"MaxTurns": limit}

    answer = api.post(URL, {"slug": "travel", "title": "Travel", "manifest": manifest})

    stored = [row.manifest["orchestrator"]["max_iterations"] for row in Application.objects.all()]
    assert answer.status_code == status
    assert stored == ([limit] if status == 201 else [])
    errors = [found["path"] for found in answer.data.get("errors", ())]
    assert errors == ([] if status == 201 else ["manifest.orchestrator.max_iterations"])


def test_mistakes_elsewhere_have_the_same_shape(api):
    make_application("travel")

    answer = api.post(URL, {"slug": "travel", "is_public": "perhaps", "owner": "nobody"})

    assert {found["path"] for found in answer.data["errors"]} == {
        "slug",
        "title",
        "is_public",
        "owner",
    }


def test_warnings_are_part_of_the_answer(api):
    manifest = manifest_with(orchestrator={"deployment": {"deployment_id": "demo-modle"}})

    answer = api.post(URL, {"slug": "a", "title": "A", "manifest": manifest})

    assert answer.data["warnings"] == [
        {
            "path": "manifest.orchestrator.deployment.deployment_id",
            "message": "there is no deployment 'demo-modle' in this installation; "
            "did you mean 'demo-model'?",
        }
    ]


@pytest.mark.parametrize("manifest", [None, [], "text", 3])
def test_a_manifest_of_another_kind_is_refused(api, manifest):
    answer = api.post(URL, {"slug": "a", "title": "A", "manifest": manifest})

    assert answer.status_code == 400
    assert [found["path"] for found in answer.data["errors"]] == ["manifest"]


@pytest.mark.parametrize(
    "body", [b"{", b'{"slug": NaN}', b"[" * 100_000, b"\xff", b'{"slug": "a", "slug": "b"}']
)
def test_a_body_that_is_no_json_is_refused(api, body):
    answer = api.post(URL, body, content_type="application/json")

    assert (answer.status_code, list(answer.data)) == (400, ["detail"])


def test_a_stale_etag_is_refused(api):
    make_application("travel").save()

    answer = api.patch(f"{URL}travel/", {"title": "Other"}, headers={"If-Match": '"1"'})

    assert answer.status_code == 412
    assert Application.objects.get().title == "Travel"
    assert api.delete(f"{URL}travel/", headers={"If-Match": '"1"'}).status_code == 412
    current = api.patch(f"{URL}travel/", {"title": "Other"}, headers={"If-Match": '"2"'})
    assert current.status_code == 200


def test_a_refused_change_tells_what_others_did(api):
    row = make_application("travel", description="Old", manifest=manifest_with(odd=1))
    api.patch(f"{URL}travel/", {"description": "Theirs", "manifest": manifest_with(odd=2)})

    by_tag = api.patch(f"{URL}travel/", {"title": "Mine"}, headers={"If-Match": '"1"'})
    by_body = api.patch(f"{URL}travel/", {"title": "Mine", "version": 1})

    change = by_tag.data["changes"][0]
    assert {name: change[name] for name in ("by", "version", "what")} == {
        "by": "operator",
        "version": 2,
        "what": "changed",
    }
    assert change["through"].startswith("the API")
    assert by_tag.data["differences"] == [
        {"path": "description", "kind": "changed", "before": "Old", "after": "Theirs"},
        {"path": "manifest.odd", "kind": "changed", "before": 1, "after": 2},
    ]
    assert (by_tag.data["version"], by_tag.status_code, by_body.status_code) == (2, 412, 409)
    assert {**by_body.data, "detail": ""} == {**by_tag.data, "detail": ""}
    row.refresh_from_db()
    assert row.title == "Travel"

    current = api.patch(f"{URL}travel/", {"title": "Mine", "version": 2})

    assert (current.status_code, current.data["title"]) == (200, "Mine")


@pytest.mark.parametrize("version", [9, "1", -1, True, [1]])
def test_a_version_that_never_was_is_refused_with_nothing_to_tell(api, version):
    make_application("travel").save()

    answer = api.patch(f"{URL}travel/", {"title": "Mine", "version": version})

    told = {name: answer.data[name] for name in ("version", "changes", "differences")}
    assert (answer.status_code, told["version"], told["changes"]) == (409, 2, [])


def test_true_is_not_the_first_version(api):
    make_application("travel")

    answer = api.patch(f"{URL}travel/", {"title": "Mine", "version": True})

    assert (answer.status_code, answer.data["version"], answer.data["changes"]) == (409, 1, [])


def test_the_list_leaves_the_manifests_out_and_takes_few_queries(
    api, django_assert_max_num_queries
):
    for number in range(150):
        make_application(f"app-{number:03}")
    api.get(URL)  # records where the session is used

    with django_assert_max_num_queries(6):
        answer = api.get(URL)

    assert (answer.data["count"], len(answer.data["results"])) == (150, 100)
    assert "manifest" not in answer.data["results"][0]


def test_visitors_and_users_are_kept_out():
    client = APIClient()
    assert client.get(URL).status_code == 401

    client.force_login(User.objects.create_user("somebody"))
    assert client.get(URL).status_code == 403


def test_staff_may_do_what_their_permissions_say():
    reader = staff_account("reader")
    client = script_of(reader)
    assert client.get(URL).status_code == 403

    permit(reader, "view_application")
    assert client.get(URL).status_code == 200
    assert client.post(URL, {"slug": "a", "title": "A"}).status_code == 403


def test_a_session_needs_its_csrf_token():
    client = APIClient(enforce_csrf_checks=True)
    client.force_login(make_operator())

    assert client.post(URL, {"slug": "a", "title": "A"}).status_code == 403


def with_key(key: str) -> APIClient:
    client = APIClient(enforce_csrf_checks=True)
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {key}")
    return client


def test_an_operator_key_acts_as_its_owner():
    operator = make_operator()
    key, secret = OperatorKey.objects.create_key(name="deploy", user=operator)

    assert with_key(secret).post(URL, {"slug": "a", "title": "A"}).status_code == 201
    assert secret not in (key.hashed_key, key.prefix)


@pytest.mark.parametrize("wrong", ["", "abc", "abcdefgh.xyz", "\x00", "ü"])
def test_an_unknown_operator_key_is_refused(wrong):
    assert with_key(wrong).get(URL).status_code == 401


def test_a_key_ends_with_its_owner_being_staff():
    operator = make_operator()
    _, secret = OperatorKey.objects.create_key(name="deploy", user=operator)
    operator.is_staff = False
    operator.save()

    assert with_key(secret).get(URL).status_code == 401


def test_a_revoked_or_expired_key_is_refused():
    operator = make_operator()
    revoked, secret = OperatorKey.objects.create_key(name="deploy", user=operator)
    revoked.revoked = True
    revoked.save()
    _, old = OperatorKey.objects.create_key(
        name="old", user=operator, expiry_date="2020-01-01T00:00:00Z"
    )

    assert with_key(secret).get(URL).status_code == 401
    assert with_key(old).get(URL).status_code == 401


def own_file(user: User) -> dict[str, str]:
    return {"type": "file", "url": f"files/user-{user.pk}/notes.txt"}


def test_nobody_but_the_owner_attaches_the_owner_s_files(api):
    owner = make_operator("anna")
    make_application("travel", owner=owner)
    attached = manifest_with(contexts=[{"type": "file", "url": "files/public/a"}, own_file(owner)])

    by_another = api.patch(f"{URL}travel/", {"manifest": attached})
    api.force_login(owner)
    by_owner = api.patch(f"{URL}travel/", {"manifest": attached})

    message = (
        f"files/user-{owner.pk}/notes.txt belongs to the owner of the application. Only the "
        "owner can attach it. Use a shared file, whose URL begins with files/public/."
    )
    assert (by_another.status_code, by_owner.status_code) == (400, 200)
    assert by_another.data["errors"] == [{"path": "manifest.contexts[1].url", "message": message}]


def test_nobody_is_made_the_owner_of_an_application_that_names_their_files(api):
    anna = make_operator("anna")
    files = manifest_with(contexts=[own_file(anna)])
    make_application("travel", manifest=files)

    answers = [
        api.patch(f"{URL}travel/", {"owner": "anna"}),
        api.post(URL, {"slug": "hotel", "title": "H", "owner": "anna", "manifest": files}),
    ]

    assert [answer.status_code for answer in answers] == [400, 400]
    for answer in answers:
        (error,) = answer.data["errors"]
        assert error["path"] == "owner"
        assert error["message"].startswith(f"contexts[0].url: files/user-{anna.pk}/notes.txt")
    assert Application.objects.get().owner is None


def test_files_that_are_attached_already_stay_when_others_edit(api):
    anna = make_operator("anna")
    files = manifest_with(contexts=[own_file(anna)])
    make_application("travel", owner=anna, manifest=files)

    renamed = api.patch(f"{URL}travel/", {"title": "Journeys"})
    fewer = api.patch(f"{URL}travel/", {"manifest": manifest_with(contexts=[])})
    again = api.patch(f"{URL}travel/", {"manifest": files})

    assert [renamed.status_code, fewer.status_code, again.status_code] == [200, 200, 400]


def test_an_application_that_calls_itself_is_refused_with_the_place(api):
    make_application("travel")
    tool = {"type": "dial-deployment-simple", "deployment_id": "travel"}
    tools = {"type": "dial-deployment", "name": "team", "tools": [tool]}

    answer = api.patch(f"{URL}travel/", {"manifest": manifest_with(tool_sets=[tools])})

    assert [error["path"] for error in answer.data["errors"]] == [
        "manifest.tool_sets[0].tools[0].deployment_id"
    ]


@proves("access")
def test_access_is_saved_at_once_and_publishes_nothing():
    row = make_application("travel", description="Two lines\n")
    api = script_of(staff_account("olga", "view_application", "change_application"))
    Grant.objects.create(application=row, user=User.objects.get(username="olga"), role=Role.OWNER)
    draft = save_draft.execute(row, {"title": "Tours"}, 0, None)
    whole = api.get(f"{URL}travel/").data

    answers = [
        api.put(f"{URL}travel/", {**whole, "is_public": True}),
        api.patch(f"{URL}travel/", {"is_enabled": False, "slug": "tours"}),
    ]
    renamed = api.patch(f"{URL}tours/", {"title": "Tours"})
    Application.objects.update(manifest={"orchestrator": 1})
    answers.append(api.patch(f"{URL}tours/", {"is_shared": False, "is_enabled": True}))

    row.refresh_from_db()
    assert [answer.status_code for answer in answers] == [200, 200, 200]
    assert (row.is_public, row.is_shared, row.is_enabled) == (True, False, True)
    assert (renamed.status_code, row.title, row.live_number) == (403, "Travel", 1)
    assert definition_of(row.draft).digest == definition_of(draft).digest


def test_what_was_never_published_has_its_access_saved_and_is_not_enabled(api):
    api.post(f"{URL}?draft=true", {"slug": "travel", "title": "T", "manifest": manifest_with()})

    shared = api.patch(f"{URL}travel/", {"is_shared": True})
    enabled = api.patch(f"{URL}travel/", {"is_enabled": True})

    assert (shared.status_code, shared.data["is_shared"]) == (200, True)
    assert (enabled.status_code, [one["path"] for one in enabled.data["errors"]]) == (
        400,
        ["is_enabled"],
    )


@proves("access")
def test_an_owner_is_named_among_known_people_and_nobody_is_guessed():
    row = make_application("travel")
    anna = User.objects.create_user("anna")
    operator = staff_account(
        "olga", "view_application", "add_application", "change_application", "publish_application"
    )
    grant = Grant.objects.create(application=row, user=operator, role=Role.OWNER)
    api = script_of(operator)
    new = {"slug": "hotel", "title": "Hotel", "manifest": manifest_with()}

    def tried() -> dict[str, Any]:
        return {
            name: [
                (answer.status_code, without(name, answer.json()))
                for answer in (
                    api.patch(f"{URL}travel/", {"owner": name}),
                    api.post(URL, {**new, "owner": name}),
                )
            ]
            for name in ("anna", "nobody")
        }

    by_owner = tried()
    Grant.objects.filter(pk=grant.pk).update(role=Role.EDITOR)
    by_editor = tried()
    Grant.objects.filter(pk=grant.pk).update(role=Role.OWNER)
    Grant.objects.create(application=row, user=anna)
    known = api.patch(f"{URL}travel/", {"owner": "anna"})

    assert by_owner["anna"] == by_owner["nobody"]
    assert by_editor["anna"] == by_editor["nobody"]
    assert (known.status_code, known.data["owner"]) == (200, "anna")


def without(name: str, answer: Any) -> str:
    return str(answer).replace(name, "")
