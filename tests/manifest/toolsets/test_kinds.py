import re
import sys
from importlib import import_module
from pathlib import Path

import pytest

from apps.manifest.kinds.deployment import DeploymentToolSet
from apps.manifest.kinds.rest import RestToolSet
from apps.manifest.toolsets.kinds import by_type, schemas_in, tool_types

MODULE = """
from typing import Literal

from apps.manifest.kind import Kind
from apps.manifest.kinds.client import ClientToolSet  # imported, not defined here
from apps.manifest.toolsets.shared_fields import NamedToolSet


class Base(NamedToolSet):
    pass


class {name}ToolSet(Base):
    kind = Kind(title="{name}", tools="some", order={order})
    type: Literal["{name}"] = "{name}"
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    folder = tmp_path / "kinds_of_a_test"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "early.py").write_text(MODULE.format(name="Late", order=2))
    (folder / "late.py").write_text(MODULE.format(name="Early", order=1))
    monkeypatch.syspath_prepend(tmp_path)
    yield import_module(folder.name)
    for name in ("", ".early", ".late"):
        sys.modules.pop(f"{folder.name}{name}", None)


def test_a_module_is_a_kind_at_the_place_that_its_record_names(package):
    found = by_type(schemas_in(package))

    names = {name: (schema.__name__, schema.kind.title) for name, schema in found.items()}
    assert list(names.items()) == [
        ("Early", ("EarlyToolSet", "Early")),
        ("Late", ("LateToolSet", "Late")),
    ]


def test_a_module_without_a_record_is_refused(package):
    module = Path(package.__path__[0], "late.py")
    module.write_text(re.sub(r" +kind = .*\n", "", module.read_text()))

    with pytest.raises(TypeError, match=r"kinds_of_a_test\.late has no toolset with a `kind`"):
        list(schemas_in(package))


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        (
            'type: Literal["Late"] = "Late"',
            "LateToolSet and EarlyToolSet have the same type, 'Late'",
        ),
        ('type: Literal["Early"]', "EarlyToolSet.type has no default"),
    ],
)
def test_each_kind_has_a_type_of_its_own(package, written, problem):
    module = Path(package.__path__[0], "late.py")
    module.write_text(module.read_text().replace('type: Literal["Early"] = "Early"', written))

    with pytest.raises(TypeError, match=problem):
        by_type(schemas_in(package))


def test_the_type_of_a_full_tool_comes_first():
    assert tool_types(DeploymentToolSet) == ("deployment-tool", "dial-deployment-simple")
    assert tool_types(RestToolSet) == ("restapi-tool",)
