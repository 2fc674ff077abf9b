#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Sends a stream through a pipeline in one VM: through xv_rsh, through ssh to a sshd on a
loopback address, and through cat in their place; and the same file with rcopy.  The ends
are the same programs: `cat FILE` and `cat > /dev/null`, but for rcopy, which reads and
writes files itself.  A login takes time that has nothing to do with the stream, so the
time of an empty stream is subtracted.  Prints lines: bench NAME VALUE UNIT
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time

MIB = 64
TURNS = 3
BIN = pathlib.Path("build/user/bin").resolve()
PORT = 2222


def sshd(work):
    pathlib.Path("/run/sshd").mkdir(exist_ok=True)
    for key in "host_key", "key":
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", work / key],
                       check=True)
    (work / "sshd_config").write_text(
        f"Port {PORT}\nListenAddress 127.0.0.1\nHostKey {work}/host_key\n"
        f"AuthorizedKeysFile {work}/key.pub\nPermitRootLogin yes\nStrictModes no\nUsePAM no\n")
    (work / "ssh_config").write_text(
        f"Host there\nHostName 127.0.0.1\nPort {PORT}\nUser root\nIdentityFile {work}/key\n"
        "StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\nLogLevel ERROR\n")
    subprocess.run(["/usr/sbin/sshd", "-f", work / "sshd_config"], check=True)


def seconds(command):
    start = time.monotonic()
    subprocess.run(["bash", "-o", "pipefail", "-c", command], check=True)
    return time.monotonic() - start


def rate(pipeline, work):
    """MiB/s of the stream; the pipeline has the place of the file."""
    empty = min(seconds(pipeline.format(file=work / "empty")) for _ in range(TURNS))
    full = min(seconds(pipeline.format(file=work / "file")) for _ in range(TURNS))
    return MIB / max(full - empty, 1e-3)


def rcopy_rate(work):
    """rcopy between the two functions, one of them in a network namespace, or None."""
    script = (
        ". ./lib.sh; peer_up || exit 1; ip netns exec peer rcopy > /dev/null 2>&1 & "
        "wait_for 20 cm_listening 7427; for i in 1 2 3; do s=$EPOCHREALTIME; "
        f"rcopy {work}/file $ADDR1:{work}/copy > /dev/null || exit 1; "
        "echo $((${EPOCHREALTIME/./} - ${s/./})); done; kill %1; peer_down")
    out = subprocess.run(["bash", "-c", script], cwd="tests/vm/suites", capture_output=True,
                         text=True, check=False, timeout=300)
    times = [int(w) for w in out.stdout.split() if w.isdigit()]
    return MIB / (min(times) / 1e6) if times else None


def main():
    work = pathlib.Path(tempfile.mkdtemp(dir="/dev/shm"))
    (work / "file").write_bytes(os.urandom(1 << 20) * MIB)
    (work / "empty").touch()
    sshd(work)
    config = f"-F {work}/ssh_config"
    xv_rsh = (f"{BIN}/xv_rsh {config} --remote-path {BIN}/xv_rsh --device mlx5_0 "
              "--peer-device mlx5_1")
    ways = {
        "cat": "cat {file} | cat | cat > /dev/null",
        "ssh": f"cat {{file}} | ssh {config} there 'cat > /dev/null'",
        "xv_rsh": f"cat {{file}} | {xv_rsh} there 'cat > /dev/null'",
    }
    rates = {way: rate(pipeline, work) for way, pipeline in ways.items()}
    for way, value in rates.items():
        print(f"bench {way}.stream {value:.1f} MiB/s", flush=True)
    print(f"bench xv_rsh/ssh.stream {rates['xv_rsh'] / rates['ssh']:.2f} ratio")
    print(f"bench xv_rsh/cat.stream {rates['xv_rsh'] / rates['cat']:.2f} ratio")
    rcopy = rcopy_rate(work)
    if rcopy:
        print(f"bench rcopy.file {rcopy:.1f} MiB/s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
