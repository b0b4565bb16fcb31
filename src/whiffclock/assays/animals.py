"""Recoveries of animals as a sample: conditions are histories, and positions are compared at equal times."""

from __future__ import annotations

import numpy as np

from whiffclock.assays.playing import Sample
from whiffclock.formatting import plainly
from whiffclock.params import require
from whiffclock.tracks.recoveries import Recoveries


def sample_of(found: Recoveries) -> Sample:
    """Recoveries of animals over the shortest blank that counts, by condition; conditions of one animal are left out.

    Parameters
    ----------
    found
        What ``tracks.recoveries(blank=...)`` returned, with steps of equal time.

    Returns
    -------
    Sample
        Its notes say what was left out, and what cannot be told apart.
    """
    how = found.settings
    require(how.steps == "time", "An assay compares positions at equal times; leave out the steps of equal length.")
    assert how.blank is not None
    assert how.move_s is not None
    moves = int(how.blank / how.move_s + 1e-6)
    few = (
        f"The shortest blank that counts has {plainly(how.blank, 3)} s, less than a move of {plainly(how.move_s, 3)} s"
    )
    require(moves >= 1, f"{few}; give a longer one (--blank).")
    long = [one for one in found.found if len(one.steps) > moves]
    names = list(dict.fromkeys(one.track.condition for one in long))
    nameless = "The tracks have no conditions; name the column that has them: --columns condition=NAME."
    require(names != [""], nameless)
    who = {name: {one.track.individual for one in long if one.track.condition == name} for name in names}
    kept = [name for name in names if len(who[name]) > 1]
    alone = [name for name in names if len(who[name]) == 1]
    counted = ", ".join(f"{name!r} has {len(who[name])}" for name in names)
    require(len(kept) > 1, f"An assay needs two conditions with 2 individuals each; {counted}.")
    used = [one for one in long if one.track.condition in kept]
    people = {name: i for i, name in enumerate(dict.fromkeys(one.track.individual for one in used))}
    pairs = {(one.track.condition, one.track.individual) for one in used}
    notes = [
        f"{len(used)} recoveries of {len(people)} individuals over {plainly(moves * how.move_s, 3)} s; a cell is "
        f"{plainly(found.cell)} {found.unit}, a move {plainly(how.move_s, 3)} s.",
        *(f"the condition {name!r} has one individual and was left out." for name in alone),
    ]
    if len(pairs) == len(used):
        notes.append(
            "one recovery of each individual in a condition: chance within and between them is not told apart."
        )
    if len(pairs) > len(people):
        notes.append("individuals with several conditions are compared with themselves in the test.")
    return Sample(
        "animals",
        np.stack([one.steps[: moves + 1] for one in used]),
        np.array([kept.index(one.track.condition) for one in used]),
        np.array([people[one.track.individual] for one in used]),
        tuple(kept),
        notes=tuple(notes),
    )
