# SPDX-License-Identifier: GPL-2.0
"""The list of steps: steps.conf, whose head explains the columns."""

import dataclasses
from pathlib import Path

KINDS = ("facts", "tap", "bench", "run", "pair", "cm")


@dataclasses.dataclass
class Step:
    name: str
    kind: str
    where: list
    flags: list
    seconds: int
    commands: list  # one, or those of server and client
    port: int  # where the server listens, 0: at a new port

    def expected(self, model):
        """The answers that a model has for this step: the section of its name, or for "a.b" the
        lines "a.b" of section "a"."""
        if self.kind != "facts":
            return {}
        section = model.get(self.name.partition(".")[0], {})
        return {n: v for n, v in section.items() if "." not in self.name or n == self.name}


def read(path=Path(__file__).resolve().parent.parent / "steps.conf"):
    steps = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        words = line.split(None, 5)
        if not words or words[0].startswith("#"):
            continue
        if len(words) != 6 or words[1].partition(":")[0] not in KINDS:
            raise SystemExit(f"{path}:{number}: not a step")
        name, kind, where, flags, seconds, command = words
        kind, _, port = kind.partition(":")
        commands = [c.strip() for c in command.split(" ; ")]
        if len(commands) != (2 if kind in ("pair", "cm") else 1):
            raise SystemExit(f"{path}:{number}: wrong number of commands")
        steps.append(Step(name, kind, where.split(","), flags.split(","), int(seconds), commands,
                          int(port or 0)))
    return steps


def choose(steps, where, link, probe, only):
    """The steps for this place ("here", "host" or "wire") and this link layer, in their order."""
    chosen = []
    for s in steps:
        if where not in s.where or ("probe" in s.flags and not probe):
            continue
        if ("eth" in s.flags and link != "ethernet") or ("ib" in s.flags and link != "infiniband"):
            continue
        if not only or s.name in only:
            chosen.append(s)
    if missing := set(only) - {s.name for s in chosen}:
        raise SystemExit(f"xv_hwtest: no such step here: {' '.join(sorted(missing))}")
    return chosen
