"""Search the programs that come with the package, and write them as text; about 15 minutes on two idle cores.

python benchmarks/shipped.py --seconds 150
"""

import argparse
import json
from pathlib import Path

import whiffclock as wc

PLACE = Path(wc.__file__).parent / "data" / "programs.toml"


def text_of(name: str, policy: wc.TablePolicy) -> str:
    """A program and what made it, as a table of TOML."""
    facts = {"agent": policy.name, **policy.made_from}
    facts["program"] = ", ".join(f"{action} {length}" for action, length in policy.program())
    lines = [f"[{name}]", *lines_of(name, facts)]
    return "\n".join(lines) + "\n"


def lines_of(table: str, facts: dict) -> list[str]:
    plain = [f"{key} = {json.dumps(value)}" for key, value in facts.items() if not isinstance(value, dict | None)]
    for key, value in facts.items():
        if isinstance(value, dict):
            plain += ["", f"[{table}.{key}]", *lines_of(f"{table}.{key}", value)]
    return plain


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=150)
    asked = parser.parse_args()
    plume = wc.builtin_plume()
    places = {f"clock-{name}": name for name in plume.environments} | {"clock-robust": list(plume.environments)}
    texts = []
    for name, environment in places.items():
        policy = wc.optimize(plume, environment, seconds=asked.seconds)
        texts.append(text_of(name, policy))
        print(name, {place: found["unseen"] for place, found in policy.made_from["found"].items()}, flush=True)
    head = "# Programs found by `python benchmarks/shipped.py`: runs of equal moves after a whiff, and what made them.\n"
    PLACE.write_text("\n".join([head, *texts]))


if __name__ == "__main__":
    main()
