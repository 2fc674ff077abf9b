# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Sourced by suites that use a real sshd, with its files in the directory WORK.

SSHD_PORT=2222

# ssh_client ADDRESS: makes a key, and settings for the host "there" with this address
# shellcheck disable=SC2317
ssh_client() {
	ssh-keygen -q -t ed25519 -N '' -f "$WORK/key" || return
	cat > "$WORK/ssh_config" <<-END
		Host there
		HostName $1
		Port $SSHD_PORT
		User root
		IdentityFile $WORK/key
		StrictHostKeyChecking no
		UserKnownHostsFile /dev/null
		LogLevel ERROR
	END
}

# ssh_server ADDRESS PUBLIC-KEY: starts sshd, which lets root in with this key
# shellcheck disable=SC2317
ssh_server() {
	mkdir -p /run/sshd "$WORK"
	chmod 700 "$WORK"
	ssh-keygen -q -t ed25519 -N '' -f "$WORK/host_key" || return
	echo "$2" > "$WORK/authorized"
	cat > "$WORK/sshd_config" <<-END
		Port $SSHD_PORT
		ListenAddress $1
		HostKey $WORK/host_key
		AuthorizedKeysFile $WORK/authorized
		PermitRootLogin yes
		StrictModes no
		UsePAM no
		AcceptEnv GIT_PROTOCOL
		PidFile $WORK/sshd.pid
	END
	/usr/sbin/sshd -f "$WORK/sshd_config" && wait_for 10 listening $SSHD_PORT
}
