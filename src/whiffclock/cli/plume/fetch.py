"""``whiffclock plume fetch``: public recordings by name."""

from dataclasses import replace
from functools import partial
from typing import Annotated

import typer

from whiffclock.cli import options as opt
from whiffclock.cli.annotations import changed_options, with_options
from whiffclock.cli.plume import plume_app


@plume_app.command()
@with_options
def fetch(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Recording; default: list all.")] = None,
    *,
    json: opt.AsJson = False,
) -> None:
    """Download a public recording, such as the DNS behind the paper, and check it.

    It is kept in a cache folder, or in the folder that the environment variable
    WHIFFCLOCK_CACHE names. An interrupted download continues. Without NAME,
    all recordings are listed.

    Example: whiffclock plume fetch nose
    """
    from whiffclock.drawing.tables import add_row, plain_table
    from whiffclock.plume.reading.fetch import cache_folder, recording, recordings
    from whiffclock.plume.reading.fetch import fetch as download

    if name is None:
        if json:
            opt.print_json({key: {"name": key, **one.to_dict()} for key, one in recordings().items()})
            return
        table = plain_table("Public recordings", f"Folder: {cache_folder()}", "name", "what", "GB", "licence", "DOI")
        table.columns[1].no_wrap = table.columns[3].no_wrap = False
        for key, one in recordings().items():
            size = "" if one.gigabytes is None else f"{one.gigabytes:g}"
            add_row(table, key, one.about, size, one.licence, one.doi)
        opt.out.print(table)
        opt.say_next("plume", "fetch", next(iter(recordings())))
        return
    found = recording(name)
    if not json:
        opt.messages.print(opt.facts_table({key.replace("_", " "): text for key, text in found.to_dict().items()}))
    with opt.progress_bar("MB") as bar:
        path = download(name, partial(bar.begin, f"downloading {name}"), bar.advance)
    if json:
        opt.print_json({"name": name, **found.to_dict()})
        return
    opt.out.print(str(path), soft_wrap=True)
    read = found.settings
    frames = f" --frames {read.first}:" if read.first else ""
    opt.say_next("plume", "export", path, f"{name}.nc", options=changed_options(replace(read, first=0)) + frames)
