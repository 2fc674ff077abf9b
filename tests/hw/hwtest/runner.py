# SPDX-License-Identifier: GPL-2.0
"""Runs steps: each has a time limit, and a command that is killed at it is a result, too."""

import contextlib
import dataclasses
import re
import shlex
import signal
import subprocess

KILLED = (124, 137)  # statuses of timeout(1)
READY = 15  # seconds until a server listens
TRIES = 3
FACT = re.compile(r"fact (\S+) (.*)")
BENCH = re.compile(r"bench (\S+) (\S+ \S+)")
TAP = re.compile(r"(not )?ok\b\s*\d*\s*-?\s*([^#]*)(#\s*skip\b.*)?", re.I)


@dataclasses.dataclass
class Result:
    rows: list = dataclasses.field(default_factory=list)  # (name, answer)
    output: str = ""  # kept for the report if the step does not agree
    timed_out: bool = False


class Runner:
    def __init__(self, here, there, directories):
        self.here, self.there = here, there
        self.directories = directories
        self.port = 18700
        self.running = []

    def text(self, command, end):
        """A command with the values of the end where it runs."""
        values = dict(self.directories, device=end.device, gid=end.gid(), port=self.port,
                      peer=self.there.device, peer_gid=self.there.gid(),
                      address=self.there.tcp_address, rdma=self.there.address(),
                      rsh=shlex.join(self.there.xv_rsh(end.device)),
                      both=f"--device {end.device} --peer-device {self.there.device}")
        return re.sub(r"\{(\w+)\}", lambda m: str(values[m[1]]), command)

    def lines(self, step):
        """What a step runs, for people: where, and the command."""
        ends = [self.there, self.here] if len(step.commands) == 2 else [self.here]
        return [(end.host or "this host", self.text(c, end)) for c, end in
                zip(step.commands, ends)]

    def start(self, end, text, seconds):
        p = subprocess.Popen(end.command(text, seconds), stdin=subprocess.DEVNULL, text=True,
                             errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.running.append(p)
        return p

    def end(self, p, seconds):
        """Waits for a command; returns its status and output."""
        try:
            out, _ = p.communicate(timeout=seconds + 30)
            status = p.returncode
        except subprocess.TimeoutExpired:
            # ssh, whose other end does not answer
            p.kill()
            out, status = p.communicate()[0], KILLED[0]
        self.running.remove(p)
        return status, out

    def stop(self):
        """Ends what still runs, after an interruption."""
        for p in self.running:
            p.send_signal(signal.SIGTERM)
        for p in list(self.running):
            with contextlib.suppress(subprocess.TimeoutExpired):
                p.wait(10)

    def run(self, step):
        if step.kind in ("pair", "cm"):
            return self.run_pair(step)
        p = self.start(self.here, self.text(step.commands[0], self.here), step.seconds)
        status, out = self.end(p, step.seconds)
        result = Result(output=out, timed_out=status in KILLED)
        {"facts": self.facts, "bench": self.bench, "tap": self.tap,
         "run": self.plain}[step.kind](step, status, out, result)
        return result

    @staticmethod
    def failure(status, out):
        last = out.strip().splitlines()[-1:] or [""]
        why = "did not end in time" if status in KILLED else f"status {status}"
        return f"fail: {why}: {last[0]}" if last[0] else f"fail: {why}"

    def facts(self, step, status, out, result):
        result.rows = [(m[1], m[2]) for m in map(FACT.fullmatch, out.splitlines()) if m]
        if status:
            result.rows.append((step.name, self.failure(status, out)))

    def bench(self, step, status, out, result):
        result.rows = [(m[1], m[2]) for m in map(BENCH.fullmatch, out.splitlines()) if m]
        if status:
            result.rows.append((step.name, self.failure(status, out)))

    def plain(self, step, status, out, result):
        result.rows = [(step.name, self.failure(status, out) if status else "pass")]

    def tap(self, step, status, out, result):
        """A program that prints TAP; it passes with its plan, and says what it has skipped."""
        tests = [m for m in map(TAP.match, out.splitlines()) if m]
        failed = [m[2].strip() for m in tests if m[1]]
        if failed:
            answer = f"fail: {len(failed)} of {len(tests)}: {'; '.join(failed[:3])}"
        elif m := re.search(r"^1\.\.0 # SKIP (.*)", out, re.M):
            answer = f"skip: {m[1]}"
        elif status or not re.search(rf"^1\.\.{len(tests)}$", out, re.M):
            answer = self.failure(status, out)
        else:
            answer = "pass"
        result.rows = [(step.name, answer)]

    def listens(self, step):
        """Waits until the server listens, or for a while."""
        if step.kind == "cm":
            test = f"rdma resource show cm_id state listen | grep -q ':{step.port or self.port} '"
        else:
            test = f"grep -q ':{self.port:04X} .* 0A ' /proc/net/tcp /proc/net/tcp6"
        self.there.ask(f"for i in $(seq {READY * 3}); do {test} && break; sleep 0.3; done",
                       2 * READY)

    def run_pair(self, step):
        """Server there, client here; what was refused because the server was late runs again."""
        for _ in range(TRIES):
            self.port += 1
            server, client = [self.text(c, end) for c, end in
                              zip(step.commands, (self.there, self.here))]
            p = self.start(self.there, server, step.seconds)
            self.listens(step)
            c = self.start(self.here, client, step.seconds)
            status, out = self.end(c, step.seconds)
            if status and p.poll() is None:
                p.terminate()
            server_status, server_out = self.end(p, step.seconds)
            if not status or "efused" not in out:
                break
        output = f"server: {server}\n{server_out}\nclient: {client}\n{out}"
        status, text = (status, out) if status else (server_status, server_out)
        return Result([(step.name, self.failure(status, text) if status else "pass")], output,
                      status in KILLED)
