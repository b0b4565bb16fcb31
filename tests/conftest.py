import os
import signal
from types import SimpleNamespace

import pytest
from hypothesis import settings

from whiffclock.paper.figures import Rendered, figures_of
from whiffclock.plume.toy import toy_plume

pytest.register_assert_rewrite("small_pomdps")
settings.register_profile("untimed", deadline=None)  # a busy machine is no failure
settings.load_profile("untimed")
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # the suite runs in the background of a shell
    signal.signal(signal.SIGINT, signal.default_int_handler)
# Threads of OpenMP spin while they wait, which takes the core that another process of the tests could use.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")


@pytest.fixture(autouse=True)
def _signals():
    """The entry point ignores signals once it has ended; tests that call it, and processes they start, should not."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture(scope="session")
def plume():
    """A small toy plume, made once."""
    return toy_plume(snapshots=200, length=40, width=27, seed=1)


@pytest.fixture
def plain_figures(monkeypatch):
    """Figures that are quick to draw, every other one without SVG."""

    def render(data, folder, workers=1):
        made = {}
        for i, figure in enumerate(figures_of(data)):
            png, pdf = folder / f"{figure}.png", folder / f"{figure}.pdf"
            png.write_bytes(b"png of " + figure.encode())
            pdf.write_bytes(b"pdf")
            svg = "" if i % 2 else f"<svg xmlns='http://www.w3.org/2000/svg'><title>{figure}</title></svg>"
            texts = f"About <{figure}>", 'Caption with <b> & "quotes"'
            table = SimpleNamespace(header=["dense"], rows=[("casts & surges", ["12 <i>"])])
            shown = table if figure in ("fig2", "fig3") else None
            made[figure] = Rendered(figure, *texts, png, pdf, svg, 3.4, f'Seen in "{figure}"', shown, "Medians.")
        return made

    monkeypatch.setattr("whiffclock.paper.page.report.render", render)
