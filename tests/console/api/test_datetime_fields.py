"""Times that scripts send: refused in one sentence wherever they are out of bounds."""

import pytest

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


@pytest.mark.parametrize(
    "written",
    [
        "0001-01-01T00:00:00+14:00",
        "0001-01-01T00:00:00Z",
        "9999-12-31T23:59:59-12:00",
        "9999-12-31T23:59:59",
    ],
)
def test_a_time_out_of_bounds_is_refused_with_one_sentence(api, written):
    answers = [
        api.post("/api/keys/", {"name": "x", "expiry_date": written}, format="json"),
        api.post("/api/schedules/", {"start_at": written}, format="json"),
    ]

    found = [error for answer in answers for error in answer.json()["errors"]]
    assert [error for error in found if error["path"] in ("expiry_date", "start_at")] == [
        {"path": path, "message": "Enter a date from 1900 to 2199."}
        for path in ("expiry_date", "start_at")
    ]
