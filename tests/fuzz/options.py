"""Options with values that nobody should give, in commands that would otherwise be quick."""

VALUES = ("", "-1", "0", "1", "2", "1e308", "-inf", "inf", "nan", "1e-320", "18446744073709551616", "9" * 25, "x", "ä", "a,b", "1,2",
          "0,0", "1:2", "-5,3", ":", "99999:", "0:1,0:1", "dense", "tyx", "\udcff", "a" * 300, "/dev/zero", "..", "none", "own")  # fmt: skip
ON = ("--plume", "plume.npz")
COMMANDS = {
    ("train", *ON, "-e", "dense", "--seeds", "1", "--episodes", "50", "--horizon", "20"): (
        "--environment", "--tau", "--seeds", "--first-seed", "--episodes", "--horizon", "--gamma", "--alpha-start", "--decay",
        "--epsilon-end", "--q-start", "--memory", "--radius", "--start-threshold", "--end-of-record", "--workers", "--source",
        "--part", "--train-share", "--out", "--store",
    ),
    ("evaluate", "p.npz", *ON, "--snapshots", "1"): (
        "--environment", "--snapshots", "--seed", "--gamma", "--horizon", "--radius", "--start-threshold", "--records",
        "--source", "--part", "--train-share", "--plume",
    ),
    ("compare", "p.npz", *ON, "--snapshots", "1"): ("--heuristic-tau", "--environment", "--horizon", "--seed", "--store"),
    ("plume", "inspect", "plume.npz"): ("--threshold", "--source", "--out"),
    ("plume", "export", "plume.npz", "out.npz"): (
        "--frames", "--crop", "--downsample", "--downsample-method", "--background", "--scale", "--axes", "--key", "--source",
    ),
    ("plume", "standin", "out.npz", "--snapshots", "10", "--length", "20", "--width", "9"): (
        "--snapshots", "--length", "--width", "--seed",
    ),
    ("plume", "calibrate", "plume.npz", "out.npz"): ("--target",),
    ("pomdp", "solve", "a.pomdp", "--seconds", "1"): ("--seconds", "--backups", "--precision", "--start", "--out", "--seed"),
    ("bayes", "solve", *ON, "-e", "dense", "--backups", "1"): (
        "--environment", "--discount", "--floor", "--radius", "--start-threshold", "--backups", "--seconds", "--start",
    ),
    ("runs", "list"): ("--store",),
    ("runs", "show"): ("--store",),
    ("info",): ("",),
    ("report",): ("",),
}  # fmt: skip


def command(rng) -> tuple[str, ...]:
    """A command with one or two options of doubtful values."""
    words = list(COMMANDS)[rng.integers(len(COMMANDS))]
    given: list[str] = []
    for _ in range(int(rng.integers(1, 3))):
        name = COMMANDS[words][rng.integers(len(COMMANDS[words]))]
        given += [name] * bool(name) + [VALUES[rng.integers(len(VALUES))]]
    return (*words, *given)
