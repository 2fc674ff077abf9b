# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Sourced by the scripts of tests/: directories, messages, locks, Debian packages. The
# scripts write only to the cache, to build/ and to temporary directories, and they
# install packages.

# shellcheck disable=SC2034 # for the scripts that source this
TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck disable=SC2034
CACHE=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/xverbs
ME=$(basename "$0")

say() { printf '%s: %s\n' "$ME" "$*" >&2; }
die() { say "$*"; exit 1; }

# lock FILE: waits for an exclusive lock, which ends with the calling shell or subshell
lock() {
	mkdir -p "$(dirname "$1")" || die "cannot create $(dirname "$1")"
	exec {LOCK_FD}>"$1" || die "cannot open $1"
	flock "$LOCK_FD"
}

# On another distribution, what installs or fetches packages of Debian says so.
need_debian() {
	command -v apt-get > /dev/null && command -v dpkg-query > /dev/null ||
		die "make test, make demo, make bench and KERNEL=... use packages of Debian 12 or" \
			"13, and this system has no apt-get; make, make install and make hwtest" \
			"need none: see README.md, \"Install\""
}

apt_update() {
	[ "$(id -u)" = 0 ] || return 0
	say "refreshing the list of Debian packages"
	apt-get update -qq -o DPkg::Lock::Timeout=600 >&2 ||
		die "apt-get update failed; are Debian's package sources reachable?"
}

is_installed() {
	[ "$(dpkg-query -Wf '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# apt_install LOG PACKAGE...: installs packages; every 20 seconds it prints what apt-get
# does, because an installation may take minutes.
apt_install() {
	local log=$1 pid start=$SECONDS next=20
	shift
	DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
		-o DPkg::Lock::Timeout=600 -o Dpkg::Use-Pty=0 "$@" > "$log" 2>&1 < /dev/null &
	pid=$!
	while kill -0 "$pid" 2>/dev/null; do
		sleep 1
		[ $((SECONDS - start)) -ge $next ] || continue
		say "$((SECONDS - start)) s: $(tail -n 1 "$log")"
		next=$((next + 20))
	done
	wait "$pid"
}

# without_services COMMAND...: the services of packages that the command installs do not start.
# The tests need their programs only.
without_services() (
	policy=/usr/sbin/policy-rc.d
	if [ ! -e $policy ]; then
		trap 'rm -f $policy' EXIT
		printf '#!/bin/sh\nexit 101\n' > $policy && chmod 755 $policy || exit
	fi
	"$@"
)

# need_packages PACKAGE...: installs those that are missing, for which it must be root. No server
# runs because of it, now or after the next boot.
need_packages() {
	local p missing=() log
	need_debian
	for p; do is_installed "$p" || missing+=("$p"); done
	[ ${#missing[@]} -eq 0 ] && return 0
	[ "$(id -u)" = 0 ] ||
		die "missing Debian packages; as root: apt-get install ${missing[*]}"
	say "installing ${missing[*]}"
	apt-cache show "${missing[@]}" >/dev/null 2>&1 || apt_update
	for p in "${missing[@]}"; do
		apt-cache show "$p" >/dev/null 2>&1 ||
			die "the package sources of this system have no package $p; the names are" \
				"those of Debian 12 and 13"
	done
	log=$(mktemp) || die "cannot make a temporary file"
	without_services apt_install "$log" "${missing[@]}" ||
		{ apt_update; without_services apt_install "$log" "${missing[@]}"; } ||
		{ tail -n 15 "$log" >&2; rm -f "$log"; die "could not install ${missing[*]}"; }
	rm -f "$log"
	[[ " ${missing[*]} " != *" openssh-server "* ]] || ! command -v systemctl > /dev/null ||
		systemctl disable ssh.service ssh.socket > /dev/null 2>&1 || :
}
