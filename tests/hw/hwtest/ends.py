# SPDX-License-Identifier: GPL-2.0
"""The two ends of a test: this host, and for the peer another device of it or another host."""

import atexit
import shlex
import shutil
import subprocess
import tempfile

SSH = ["ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "ControlMaster=auto",
       "-o", "ControlPersist=60"]
GRACE = 5  # seconds between SIGTERM and SIGKILL

# What a host says about its devices, one line for each fact.  It needs no program of ours.
ASK = r"""
for d in /sys/class/infiniband/*; do
	[ -e "$d" ] || continue
	n=${d##*/}
	for f in board_id hca_type fw_ver node_guid sys_image_guid ports/1/link_layer; do
		[ -r "$d/$f" ] && echo "$n $f $(cat "$d/$f")"
	done
	i=0
	while [ -r "$d/ports/1/gids/$i" ]; do
		t=$(cat "$d/ports/1/gid_attrs/types/$i" 2> /dev/null) &&
			echo "$n gid $i $(cat "$d/ports/1/gids/$i") $t"
		i=$((i + 1))
		[ $i -lt 32 ] || break
	done
	for f in "$d"/ports/1/gid_attrs/ndevs/0; do
		t=$(cat "$f" 2> /dev/null) && echo "$n netdev $t"
	done
done
"""


class End:
    """One end: a device, and how commands run there.  @host is None for this host."""

    def __init__(self, host=None, ssh=(), path=()):
        self.host = host
        self.tcp_address = "127.0.0.1"
        self.options = list(ssh)
        if host:
            self.connect(ssh)
        self.path = list(path)
        self.facts = None
        self.device = None

    def xv_rsh(self, device):
        """The words of xv_rsh from a device here to this end"""
        remote = ["--remote-path", f"{self.path[0]}/xv_rsh"] if self.path else []
        return ["xv_rsh", *self.options, "--device", device, "--peer-device", self.device, *remote,
                str(self.host)]

    def connect(self, options):
        """All commands use one connection of ssh, which ends with this program."""
        directory = tempfile.mkdtemp(prefix="xv_hwtest.")
        self.ssh = [*SSH, "-o", f"ControlPath={directory}/%C", *options]
        atexit.register(self.disconnect, directory)
        # Names that only ssh knows
        words = subprocess.run([*self.ssh, "-G", self.host], capture_output=True, text=True,
                               check=False).stdout.splitlines()
        self.tcp_address = next((w.partition(" ")[2] for w in words if w.startswith("hostname ")),
                            self.host)

    def disconnect(self, directory):
        subprocess.run([*self.ssh, "-O", "exit", self.host], capture_output=True, check=False)
        shutil.rmtree(directory, ignore_errors=True)

    def command(self, text, seconds=None):
        """The words that run a line of shell at this end, with a time limit there."""
        line = f"PATH={':'.join(map(shlex.quote, self.path))}:$PATH; {text}" if self.path else text
        limit = ["timeout", "-k", str(GRACE), str(seconds)] if seconds else []
        words = [*limit, "sh", "-c", line]
        if not self.host:
            return words
        return [*self.ssh, self.host, shlex.join(words)]

    def ask(self, text, seconds=20):
        """Runs a line; returns its status and output."""
        done = subprocess.run(self.command(text, seconds), stdin=subprocess.DEVNULL, text=True,
                              errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=seconds + 30, check=False)
        return done.returncode, done.stdout.strip()

    def look(self):
        """Reads what the host says about its devices."""
        status, text = self.ask(ASK)
        if status and self.host:
            raise SystemExit(f"xv_hwtest: {self.host} cannot be reached by ssh: {text}")
        self.facts = [line.split(None, 2) for line in text.splitlines() if line.count(" ") > 1]
        return sorted({f[0] for f in self.facts})

    def use(self, device):
        self.device = device
        self.gids = [rest.split(None, 2) for name, what, rest in self.facts
                     if name == device and what == "gid"]

    def fact(self, name):
        return next((rest for d, what, rest in self.facts if d == self.device and what == name),
                    "")

    @property
    def link(self):
        return "infiniband" if self.fact("ports/1/link_layer") == "InfiniBand" else "ethernet"

    def gid(self):
        """Index of the GID for connections: on Ethernet that of RoCE v2 and an IPv4 address, or
        another of RoCE v2."""
        if self.link == "infiniband":
            return "0"
        v2 = [g for g in self.gids if g[2:] == ["RoCE v2"]]
        best = [g for g in v2 if ":0000:ffff:" in g[1]] or v2
        return best[0][0] if best else None

    def address(self):
        """The IPv4 address of the port, for rdma_cm, or None"""
        for _, gid, *kind in self.gids:
            if ":0000:ffff:" in gid and kind == ["RoCE v2"]:
                digits = gid.replace(":", "")[-8:]
                return ".".join(str(int(digits[i:i + 2], 16)) for i in range(0, 8, 2))
        return None

    def has(self, program):
        return not self.ask(f"command -v {shlex.quote(program)}")[0]


def local(path, device):
    end = End(path=path)
    devices = end.look()
    if device not in devices:
        raise SystemExit(f"xv_hwtest: there is no RDMA device {device}; there are: "
                         f"{' '.join(devices) or 'none'}")
    end.use(device)
    return end


def peer(here, name, path, ssh):
    """The other end: a device of this host, or HOST[:DEVICE].  Returns it and where it is."""
    if name is None or name in here.look():
        end = End(path=here.path)
        end.facts = here.facts
        end.use(name or here.device)
        return end, "here"
    host, _, device = name.partition(":")
    end = End(host, ssh, path)
    devices = end.look()
    if not devices or (device and device not in devices):
        raise SystemExit(f"xv_hwtest: {host} has no RDMA device {device}; it has: "
                         f"{' '.join(devices) or 'none'}")
    end.use(device or devices[0])
    return end, "host" if end.has("xv_perf") and not end.ask("test -e /dev/xverbs")[0] else "wire"
