"""The one way to leave a test of Python out; each skip is a line of the file that HYBRIDGE_TEST_SKIPS names."""

import os
from pathlib import Path
from typing import NoReturn

import pytest


def missing(what: str) -> NoReturn:
    """Leave tests out that lack something on this machine, and fail them with CI=true."""
    if os.environ.get("CI") == "true":
        pytest.fail(what, pytrace=False)
    notes = os.environ.get("HYBRIDGE_TEST_SKIPS")
    if notes:
        with Path(notes).open("a", encoding="utf-8") as file:
            file.write(f"python\t{os.environ.get('PYTEST_CURRENT_TEST', 'a module')}\t{what}\n")
    pytest.skip(what, allow_module_level=True)
