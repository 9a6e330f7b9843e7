"""The documents of frames for generated content: their policies block everything else."""

import re

from django.test import Client


def test_a_page_of_a_model_is_shown_without_an_origin_and_without_the_network():
    response = Client().get("/frames/artifact/")

    assert response["Content-Security-Policy"].split("; ") == [
        "sandbox allow-scripts",
        "default-src 'none'",
        "frame-ancestors 'self'",
        "base-uri 'none'",
        "script-src 'unsafe-inline'",
        "style-src 'unsafe-inline'",
        "img-src data: blob:",
        "font-src data:",
        "media-src data: blob:",
    ]
    assert response["X-Frame-Options"] == "SAMEORIGIN"
    assert not response.cookies


def test_a_diagram_is_drawn_by_the_named_scripts_alone():
    response = Client().get("/frames/diagram/")

    policy = response["Content-Security-Policy"]
    [nonce] = re.findall("script-src 'nonce-([^']+)'", policy)
    assert policy.startswith("sandbox allow-scripts; default-src 'none'; ")
    assert re.findall('nonce="([^"]+)"', response.text) == [nonce, nonce]
    assert not response.cookies
