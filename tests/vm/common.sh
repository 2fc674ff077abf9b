# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Sourced by the scripts of tests/: where things live, messages, and Debian
# packages. Invariant: nothing is written outside the cache, the build
# directory and temporary directories, except by installing packages.

# shellcheck disable=SC2034 # for the scripts that source this
TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck disable=SC2034
CACHE=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/xverbs
ME=$(basename "$0")

say() { printf '%s: %s\n' "$ME" "$*" >&2; }
die() { say "$*"; exit 1; }

# An exclusive lock held until the calling (sub)shell exits.
lock() {
	mkdir -p "$(dirname "$1")" || die "cannot create $(dirname "$1")"
	exec {LOCK_FD}>"$1" || die "cannot open $1"
	flock "$LOCK_FD"
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

# Install what is missing of the named Debian packages; needs root only then.
need_packages() {
	local p missing=() log
	for p; do is_installed "$p" || missing+=("$p"); done
	[ ${#missing[@]} -eq 0 ] && return 0
	[ "$(id -u)" = 0 ] ||
		die "missing Debian packages; as root: apt-get install ${missing[*]}"
	say "installing ${missing[*]}"
	apt-cache show "${missing[@]}" >/dev/null 2>&1 || apt_update
	log=$(DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
		--no-install-recommends -o DPkg::Lock::Timeout=600 \
		"${missing[@]}" 2>&1) ||
		{ apt_update
		  log=$(DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
			--no-install-recommends -o DPkg::Lock::Timeout=600 \
			"${missing[@]}" 2>&1); } ||
		{ printf '%s\n' "$log" | tail -n 15 >&2
		  die "could not install ${missing[*]}"; }
}
