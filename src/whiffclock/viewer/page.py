"""The page that shows agents searching: templates, style sheet and scripts, assembled into one HTML file."""

import base64
import hashlib
import html
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import whiffclock
from whiffclock.agents.castsurge import cast_and_surge
from whiffclock.agents.shipped import shipped, trained
from whiffclock.disk import write_whole
from whiffclock.drawing.pages import page_templates
from whiffclock.params import ViewSettings, WorldSettings
from whiffclock.plume import Plume
from whiffclock.viewer.data import Named, contents

#: Opening angle of cast-and-surge in a page, in degrees.
CAST_ANGLE = 30
#: The scripts, in the order in which they are joined.
SCRIPTS = (
    "world", "metrics", "draw", "arena", "mind", "race", "play", "gif", "shot", "share", "paint", "input", "main",
)  # fmt: skip


@dataclass(frozen=True, repr=False)
class Page:
    """A page of searches: one HTML file without anything from elsewhere; in a notebook, it shows itself."""

    html: str
    height: int = 760  # pixels, in a notebook

    def save(self, path: Path | str) -> Path:
        """Write the page, whole or not at all."""
        place = Path(path)
        write_whole(place, lambda file: file.write(self.html.encode()))  # type: ignore[arg-type]
        return place

    def _repr_html_(self) -> str:
        looks = f'style="width: 100%; height: {self.height}px; border: 0" sandbox="allow-scripts allow-downloads"'
        return f'<iframe title="Searches" {looks} srcdoc="{html.escape(self.html)}"></iframe>'

    def __repr__(self) -> str:
        return f"Page({len(self.html) / 1e6:.1f} MB; save(path) writes it)"


def view_page(
    plume: Plume,
    given: Sequence[Named] = (),
    world: WorldSettings | None = None,
    settings: ViewSettings | None = None,
) -> Page:
    """A page with a plume, the given policies, and those that come with the package and were made on this plume."""
    named, first = shown_policies(plume, given)
    blocks = contents(plume, named, plume.settle(world), settings or ViewSettings(), first)
    style, script = _part("page.css"), "\n".join(_part(f"{name}.js") for name in SCRIPTS)
    allowed = {"style": _digest(style), "script": _digest(script)}
    text = (
        page_templates("whiffclock.viewer", "templates")
        .get_template("page.html")
        .render(
            blocks=blocks,
            style=style,
            script=script,
            allowed=allowed,
            version=whiffclock.__version__,
            origin=plume.origin,
        )
    )
    return Page(text)


def shown_policies(plume: Plume, given: Sequence[Named]) -> tuple[list[Named], int]:
    """The policies of a page, and the number of the one that it opens with: a given one, or one for sparse odor."""
    ready = [*map(shipped, shipped()), *trained()]
    fitting = [one for one in ready if one.made_from["plume"] in (plume.fingerprint, plume.part_of)]
    named = [*given, *((None, one) for one in [*fitting, cast_and_surge(CAST_ANGLE)])]
    places = plume.environments
    sparse = [places[name] for name in (places.pair or places.names)[-1:]]
    first = next((i for i, (_, one) in enumerate(named) if [one.threshold] == sparse), 0)
    return named, 0 if given else first


def _part(name: str) -> str:
    return (resources.files("whiffclock.viewer") / "templates" / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """By which the page's Content-Security-Policy knows its own script and style sheet."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
