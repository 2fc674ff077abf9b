# SPDX-License-Identifier: GPL-2.0
"""What the model of adapters expects.

A file of models/ has sections "[STEP]", or "[STEP LINK-LAYER]" for one link layer, and lines
"NAME VALUE".  A VALUE "~REGEX" is a pattern for the whole answer, "?" means that nobody knows.
A line "include FILE" stands for the lines of another file of the same directory; those that follow
replace its values.
"""

import re
from pathlib import Path

MODELS = Path(__file__).resolve().parent.parent / "models"
# Device ids of each model, from the table of drivers/net/ethernet/mellanox/mlx5/core/main.c
IDS = {"cx5": ("4119", "4120", "4121", "4122"), "cx6dx": ("4125",), "cx7": ("4129",)}
DEFAULT = "cx5"


def find(part_id):
    """The model of a device, and a note if there is none for it."""
    for name, ids in IDS.items():
        if part_id in ids:
            return MODELS / f"{name}.conf", None
    return MODELS / f"{DEFAULT}.conf", f"there is no model of device id {part_id}: that of " \
        f"{DEFAULT} is used, so some differences are those of the generation"


def read(path, link):
    """Section -> name -> expected value"""
    model = {}
    add(model, Path(path), link)
    return model


def add(model, path, link):
    """Reads a file into the model."""
    section = None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if m := re.fullmatch(r"include (\S+)", line):
            add(model, path.parent / m[1], link)
            section = None
            continue
        if m := re.fullmatch(r"\[(\S+)( ethernet| infiniband)?\]", line):
            fits = not m[2] or m[2].strip() == link
            section = model.setdefault(m[1], {}) if fits else {}
            continue
        name, _, value = line.partition(" ")
        if section is None or not value:
            raise SystemExit(f"{path}:{number}: no line of a model")
        section[name] = value.strip()


def agrees(expected, found):
    if expected in ("?", "-"):
        return True
    if expected.startswith("~"):
        return re.fullmatch(expected[1:], found) is not None
    return expected == found
