"""Search the programs that come with the package, and write them as text; about 8 minutes on two idle cores.

python benchmarks/shipped.py
"""

import argparse
import json
from pathlib import Path

import whiffclock as wc

PLACE = Path(wc.__file__).parent / "data" / "programs.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=80)
    asked = parser.parse_args()
    plume = wc.builtin_plume()
    places = {f"clock-{name}": name for name in plume.environments} | {"clock-robust": list(plume.environments)}
    found = {}
    for name, environment in places.items():
        longer = {"seconds": 1.5 * asked.seconds, "seed": 1} if name == "clock-robust" else {"seconds": asked.seconds}
        policy = wc.optimize(plume, environment, **longer)
        program = ", ".join(f"{action} {length}" for action, length in policy.program())
        found[name] = {"agent": policy.name, "program": program, **policy.made_from}
        print(name, {place: tested["unseen"] for place, tested in policy.made_from["found"].items()}, flush=True)
    PLACE.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
