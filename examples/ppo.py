"""PPO on the last whiff bits, with a critic that knows the position: ``python examples/ppo.py`` (needs torch).

In one file, as in CleanRL. The actor sees the last 100 observations only (the kind "last:100"); the critic, which is
used for learning alone, sees the position of the search relative to the source, which no agent knows. The actor then
becomes a policy of this package, which remembers as many bits and draws its moves, and is compared with others.
"""

import argparse
import time

import gymnasium
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

import whiffclock as wc

BITS, SEARCHES, STEPS, GAMMA, LAMBDA = 100, 1024, 128, 0.998, 0.95
EPOCHS, MINIBATCHES, CLIP, ENTROPY, RATE, HIDDEN = 2, 4, 0.2, 0.01, 1e-3, 32
SEEN, PLACE = f"last:{BITS}", "position"


def layer(inputs, outputs, gain=2**0.5):
    """A linear layer with orthogonal weights."""
    made = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(made.weight, gain)
    nn.init.zeros_(made.bias)
    return made


def network(inputs, outputs, gain):
    """Two hidden layers."""
    hidden = layer(inputs, HIDDEN), nn.Tanh(), layer(HIDDEN, HIDDEN), nn.Tanh()
    return nn.Sequential(*hidden, layer(HIDDEN, outputs, gain))


class Learner(nn.Module):
    """Actor and critic."""

    def __init__(self):
        super().__init__()
        self.actor, self.critic = network(BITS, len(wc.ACTIONS), 0.01), network(2, 1, 1.0)

    def value(self, place):
        return self.critic(place / 50).squeeze(-1)


class Actor(wc.Policy):
    """Moves drawn as the actor says; what it remembers are the last observations int8[n, BITS]."""

    name = "PPO"

    def __init__(self, actor):
        self.actor = actor

    def begin(self, whiff):
        return self.observe(np.zeros((len(whiff), BITS), dtype=np.int8), None, whiff)

    def observe(self, memory, action, whiff):
        return np.column_stack([memory[:, 1:], whiff]).astype(np.int8)

    def act(self, memory):
        with torch.no_grad():
            return Categorical(logits=self.actor(tensor(memory))).sample().numpy()


def tensor(values):
    return torch.as_tensor(np.ascontiguousarray(values), dtype=torch.float32)


def rollout(envs, learner, seen, fresh):
    """Some steps of all searches; in the step after its end a search only begins again (``fresh``)."""
    record = []
    for _ in range(STEPS):
        bits, place = tensor(seen[SEEN]), tensor(seen[PLACE])
        with torch.no_grad():
            drawn = Categorical(logits=learner.actor(bits))
            action, value = drawn.sample(), learner.value(place)
            chance = drawn.log_prob(action)
        after, reward, terminated, truncated, _ = envs.step(action.numpy())
        with torch.no_grad():
            beyond = learner.value(tensor(after[PLACE])) * tensor(~terminated)
        over = tensor(terminated | truncated)
        record.append((bits, place, action, chance, value, tensor(reward), beyond, over, tensor(~fresh)))
        seen, fresh = after, terminated | truncated
    return [torch.stack(part) for part in zip(*record, strict=True)], seen, fresh


def advantages(reward, value, beyond, over):
    """Generalized advantage estimation."""
    found, following = torch.zeros_like(reward), torch.zeros(SEARCHES)
    for step in reversed(range(STEPS)):
        surprise = reward[step] + GAMMA * beyond[step] - value[step]
        found[step] = following = surprise + GAMMA * LAMBDA * (1 - over[step]) * following
    return found


def update(learner, optimizer, record, left):
    bits, place, action, chance, value, reward, beyond, over, real = record
    advantage = advantages(reward, value, beyond, over)
    target, chosen = advantage + value, real.flatten().nonzero().squeeze(-1)
    flat = [part.flatten(0, 1)[chosen] for part in (bits, place, action, chance, advantage, target)]
    for _ in range(EPOCHS):
        for part in torch.randperm(len(chosen)).chunk(MINIBATCHES):
            bits, place, action, before, gained, aim = (values[part] for values in flat)
            drawn = Categorical(logits=learner.actor(bits))
            ratio = (drawn.log_prob(action) - before).exp()
            gained = (gained - gained.mean()) / (gained.std() + 1e-8)
            gain = torch.min(ratio * gained, ratio.clamp(1 - CLIP, 1 + CLIP) * gained).mean()
            miss = (learner.value(place) - aim).square().mean()
            loss = -gain + 0.5 * miss - left * ENTROPY * drawn.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(learner.parameters(), 0.5)
            optimizer.step()


def learn(plume, threshold, seconds, seed=0):
    """An actor after some seconds of learning."""
    torch.manual_seed(seed)
    envs = gymnasium.make_vec(
        "whiffclock/Search-v0", SEARCHES, plume=plume, threshold=threshold, observation=[SEEN, PLACE], gamma=GAMMA
    )
    learner = Learner()
    optimizer = torch.optim.Adam(learner.parameters(), lr=RATE, eps=1e-5)
    seen, _ = envs.reset(seed=seed)
    fresh, began, rounds, arrived, ended = np.zeros(SEARCHES, dtype=bool), time.monotonic(), 0, 0.0, 0.0
    while (spent := time.monotonic() - began) < seconds:
        left = 1 - spent / seconds
        for group in optimizer.param_groups:
            group["lr"] = left * RATE
        record, seen, fresh = rollout(envs, learner, seen, fresh)
        update(learner, optimizer, record, left)
        rounds += 1
        arrived, ended = arrived + float((record[5] == 1).sum()), ended + float(record[7].sum())
        if rounds % 10 == 0:
            steps = rounds * STEPS * SEARCHES / 1e6
            print(
                f"{spent:4.0f} s: {steps:.1f} million steps, {arrived / ended:.2f} of the searches arrive", flush=True
            )
            arrived = ended = 0.0
    return learner.actor


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=330, help="of learning")
    parser.add_argument("--threshold", default="sparse")
    given = parser.parse_args()
    torch.set_num_threads(1)
    plume = wc.builtin_plume()
    actor = learn(plume, given.threshold, given.seconds)
    agents = {"PPO": Actor(actor), "searched clock": wc.shipped(f"clock-{given.threshold}")}
    print(wc.compare(agents, plume, given.threshold, snapshots=2))


if __name__ == "__main__":
    main()
