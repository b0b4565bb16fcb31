import pytest

from whiffclock.plume.standin import standin_plume


@pytest.fixture(scope="session")
def plume():
    """A small stand-in plume, made once."""
    return standin_plume(snapshots=200, length=40, width=27, seed=1)
