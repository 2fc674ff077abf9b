# SPDX-License-Identifier: GPL-2.0
"""The table "expected by the adapter model | found", and the file with it."""

import dataclasses
import platform
import textwrap
from pathlib import Path

from . import model

LINES = 40  # of the output of a step that does not agree
WIDTH = 48  # of a value in the table


@dataclasses.dataclass
class Row:
    name: str
    expected: str
    found: str

    @property
    def mark(self):
        if self.expected == "-":
            return " "
        if self.found.startswith("skip"):
            return "s"
        return " " if model.agrees(self.expected, self.found) else "!"


class Report:
    def __init__(self, expected):
        self.expected = expected  # section -> name -> value
        self.rows = []
        self.outputs = []  # (step, output) of those that do not agree

    def add(self, step, result):
        """Adds the answers of a step; true if they agree with the model."""
        expected = step.expected(self.expected)
        rows = []
        for name, found in result.rows:
            default = "-" if step.kind in ("facts", "bench") else "pass"
            rows.append(Row(name, expected.pop(name, default), found))
        # "skip" as the answer to "a" is one to all "a.b".
        skipped = tuple(row.name + "." for row in rows if row.found.startswith("skip"))
        rows += [Row(name, value, "no answer") for name, value in expected.items()
                 if not name.startswith(skipped)]
        # A program that fails is a difference, whatever the model has.
        for row in rows:
            if row.expected == "-" and row.found.startswith("fail"):
                row.expected = "pass"
        self.rows += rows
        good = all(row.mark != "!" for row in rows)
        if not good:
            self.outputs.append((step.name, result.output))
        return good

    @property
    def differences(self):
        return [row for row in self.rows if row.mark == "!"]

    def table(self, rows=None):
        rows = self.rows if rows is None else rows
        head = ("", "expected by the adapter model", "found")
        cells = [head] + [(r.name, r.expected.lstrip("~"), r.found) for r in rows]
        widths = [min(max(len(c[i]) for c in cells), WIDTH) for i in range(2)]
        lines = []
        for row, (name, expected, found) in zip([None, *rows], cells):
            mark = row.mark if row else " "
            parts = textwrap.wrap(found, 2 * WIDTH) or [""]
            lines.append(f"{mark} {name:{widths[0]}} | {expected:{widths[1]}} | {parts[0]}")
            lines += [f"  {'':{widths[0]}} | {'':{widths[1]}} | {p}" for p in parts[1:]]
        return "\n".join(lines)

    def text(self, facts, notes, kernel_lines):
        """The whole file, before names and addresses are removed."""
        parts = ["xv_hwtest", *(f"{name}: {value}" for name, value in facts), "",
                 *(f"note: {n}" for n in notes), "", self.table(), "",
                 f"{len(self.differences)} differences"]
        for step, output in self.outputs:
            parts += ["", f"---- output of {step}, the last {LINES} lines",
                      *output.splitlines()[-LINES:]]
        parts += ["", "---- kernel log", *kernel_lines[-200:], ""]
        return "\n".join(parts)


def host_facts(here, version):
    """About this host and its adapter, without names"""
    def first(path, key):
        for line in Path(path).read_text().splitlines():
            if line.startswith(key):
                return line.partition("=" if "=" in line else ":")[2].strip().strip('"')
        return "unknown"

    rdma_core = here.ask("dpkg-query -Wf '${Version}' libibverbs1 2> /dev/null || "
                         "rpm -q libibverbs")[1]
    return [("version of xverbs", version), ("kernel", platform.release()),
            ("distribution", first("/etc/os-release", "PRETTY_NAME")),
            ("processor", first("/proc/cpuinfo", "model name")), ("rdma-core", rdma_core),
            ("adapter", here.fact("hca_type")), ("firmware", here.fact("fw_ver")),
            ("PSID", here.fact("board_id")), ("link layer", here.link)]
