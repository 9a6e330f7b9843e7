"""The data directory of an installed package."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from quickapps_site import installation
from tests.sites.fork_server import ROOT


def test_a_checkout_stores_data_next_to_its_code():
    assert installation.RESOURCES == ROOT
    assert installation.default_data_folder() == ROOT / "var"


def test_a_package_stores_data_in_the_directory_of_its_user(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(installation, "IS_CHECKOUT", False)
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    assert installation.default_data_folder() == Path("/home/ada/.local/share/quickapps")

    monkeypatch.setenv("XDG_DATA_HOME", "/srv")
    assert installation.default_data_folder() == Path("/srv/quickapps")


def test_a_user_without_a_home_has_to_name_a_directory(monkeypatch: pytest.MonkeyPatch):
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(installation, "IS_CHECKOUT", False)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setattr(Path, "home", no_home)

    with pytest.raises(ImproperlyConfigured, match="set DATA_DIR to a directory for the data"):
        installation.default_data_folder()
