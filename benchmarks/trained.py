"""Train the agents that come with the package for pages of searches; about 2 minutes on two idle cores.

python benchmarks/trained.py
"""

import json
from pathlib import Path

import whiffclock as wc

PLACE = Path(wc.__file__).parent / "data" / "trained.json"
EPISODES, TAU = 1_000_000, 10


def written(policy: wc.TablePolicy) -> dict:
    """An agent in plain values, without its Q-matrix."""
    return {
        "agent": policy.name,
        "memory": policy.memory.changed,
        "actions": "".join(map(str, policy.actions.tolist())),
        "clock": policy.records["clock"].tolist(),
        "made_from": policy.made_from,
    }


def main() -> None:
    plume = wc.builtin_plume()
    agents = [wc.train(plume, name, tau=tau, episodes=EPISODES) for tau in (TAU, None) for name in plume.environments]
    PLACE.write_text("[\n" + ",\n".join(json.dumps(written(one)) for one in agents) + "\n]\n")


if __name__ == "__main__":
    main()
