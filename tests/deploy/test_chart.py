"""The Helm chart, rendered by Helm's own code and checked against the schemas of Kubernetes."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from tests.deploy.tools import CHECKS_ABSENT, peer
from tests.sites.fork_server import ROOT

PYTHON = peer("python")
pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(peer("hadolint") is None or PYTHON is None, reason=CHECKS_ABSENT),
]
CHART = ROOT / "deploy/helm/quickapps"
OLDEST = "1.27"
INFORMATION = 1
"""The severity of advice, such as that an icon is recommended."""


def report(values: dict[str, Any]) -> dict[str, Any]:
    checker = ROOT / "tests/deploy/chart_checker.py"
    asked = json.dumps({"chart": str(CHART), "values": values, "oldest": OLDEST})
    command = [str(PYTHON), str(checker)]
    done = subprocess.run(command, input=asked, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def rendered(values: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the objects by kind. The worker's `Deployment` is `Worker`."""
    return {name_of(found): found for found in report(values)["objects"]}


def name_of(found: dict[str, Any]) -> str:
    kind: str = found["kind"]
    return "Worker" if found["metadata"]["name"].endswith("-worker") else kind


def test_the_chart_has_no_mistakes():
    messages = report({})["messages"]

    assert [one for one in messages if one["severity"] > INFORMATION] == []


@pytest.mark.parametrize(
    ("values", "kinds"),
    [
        ({}, {"Ingress", "NetworkPolicy", "PersistentVolumeClaim"}),
        (
            {
                "autoscaling": {"enabled": True},
                "imagePullSecrets": [{"name": "registry"}],
                "ingress": {"enabled": False},
                "networkPolicy": {
                    "from": [{"namespaceSelector": {"matchLabels": {"name": "ingress"}}}],
                    "to": [{"ipBlock": {"cidr": "10.0.0.0/8"}}],
                },
                "nodeSelector": {"disk": "fast"},
                "persistence": {"existingClaim": "files"},
                "podAnnotations": {"prometheus.io/scrape": "true"},
                "settings": {"LOG_LEVEL": "WARNING"},
                "tolerations": [{"key": "apps", "operator": "Exists"}],
            },
            {"HorizontalPodAutoscaler", "NetworkPolicy"},
        ),
        (
            {
                "persistence": {"enabled": False},
                "serviceAccount": {"name": "files"},
                "settings": {"FILES_URL": "s3://files"},
            },
            {"Ingress", "NetworkPolicy"},
        ),
    ],
    ids=["by default", "with all options", "with files in a bucket"],
)
def test_kubernetes_takes_what_is_rendered(values, kinds):
    found = report(values)

    assert found["problems"] == []
    assert {name_of(one) for one in found["objects"]} == {
        "Deployment",
        "Job",
        "PodDisruptionBudget",
        "Service",
        "Worker",
    } | kinds


def test_servers_run_no_jobs_and_a_worker_does():
    objects = rendered({})

    arguments = {
        kind: objects[kind]["spec"]["template"]["spec"]["containers"][0]["args"]
        for kind in ("Deployment", "Worker")
    }
    assert arguments == {"Deployment": ["serve", "--web"], "Worker": ["serve", "--worker"]}


def test_secrets_are_files_and_settings_are_variables():
    objects = rendered({"secret": {"keys": ["SECRET_KEY"]}, "settings": {"LOG_LEVEL": "WARNING"}})

    for kind in ("Deployment", "Job", "Worker"):
        pod = objects[kind]["spec"]["template"]["spec"]
        (container,) = pod["containers"]
        variables = {one["name"]: one["value"] for one in container["env"]}
        assert variables == {
            "ALLOWED_HOSTS": "apps.example.com",
            "LOG_LEVEL": "WARNING",
            "PUBLIC_URL": "https://apps.example.com",
            "SECRET_KEY_FILE": "/run/secrets/quickapps/SECRET_KEY",
            "TRUSTED_PROXIES": "10.0.0.0/8",
        }
        assert pod["volumes"][1] == {
            "name": "secret",
            "secret": {
                "secretName": "quickapps",
                "items": [{"key": "SECRET_KEY", "path": "SECRET_KEY"}],
            },
        }


def test_values_that_are_no_settings_are_refused():
    assert "settings" in report({"settings": {"LOG_PAYLOADS": True}})["error"]
