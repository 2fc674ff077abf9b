# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Sourced after tests/common.sh: fetches packages of any Debian release without a change
# to the host. The cache has package lists for each release. Mirror and proxy are those
# that apt on this host uses.

KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg

# The Debian release whose backports have the newest kernel
# shellcheck disable=SC2034 # for the scripts that source this
DEBIAN_NEWEST=trixie

debian_host() { (. /etc/os-release && echo "${VERSION_CODENAME:-}"); }

# The releases whose kernels are used. The release of the host comes first, because its
# compiler is installed.
debian_releases() {
	case $(debian_host) in
	trixie) echo trixie bookworm bullseye ;;
	*) echo bookworm trixie bullseye ;;
	esac
}

# The suites of the mirror that belong to a release; mirrors have no backports of bullseye any more.
debian_suites() {
	case $1 in
	bullseye) echo bullseye bullseye-security ;;
	testing) echo testing ;;
	*) echo "$1" "$1-updates" "$1-backports" "$1-security" ;;
	esac
}

# debian_mirror debian|debian-security: prints the address of the mirror
debian_mirror() {
	local label=Debian uri
	[ "$1" = debian ] || label=Debian-Security
	# shellcheck disable=SC2016 # apt expands it
	uri=$(apt-get indextargets --format '$(ORIGIN) $(LABEL) $(REPO_URI)' 2>/dev/null |
		awk -v label="$label" '$1 == "Debian" && $2 == label { print $3; exit }')
	uri=${uri%/}
	echo "${uri:-http://deb.debian.org/$1}"
}

# debian_sources RELEASE: prints the package sources of a release as a sources.list
debian_sources() {
	local suite archive
	for suite in $(debian_suites "$1"); do
		archive=debian
		[ "$suite" = "$1-security" ] && archive=debian-security
		echo "deb [signed-by=$KEYRING] $(debian_mirror $archive) $suite main"
	done
}

# debian_apt RELEASE PROGRAM ARGUMENT...: runs a program of apt with the package lists of
# RELEASE
debian_apt() {
	local dir=$CACHE/apt/$1 program=$2
	shift 2
	"$program" -o Dir::State="$dir" -o Dir::Cache="$dir" \
		-o Dir::Etc::sourcelist="$dir/sources.list" -o Dir::Etc::sourceparts=- \
		-o Dir::Etc::preferences=/dev/null -o Dir::Etc::preferencesparts=/dev/null \
		-o APT::Default-Release= -o APT::Sandbox::User= -o APT::Architecture=amd64 "$@"
}

# debian_update RELEASE [now]: fetches the package lists, unless they are less than a day
# old; with "now" always. Fails without a network; older lists stay usable.
debian_update() {
	local dir=$CACHE/apt/$1
	[ -z "${2:-}" ] && [ -n "$(find "$dir/fetched" -mtime -1 2>/dev/null)" ] && return 0
	mkdir -p "$dir/lists/partial" "$dir/archives/partial" || return 1
	debian_sources "$1" > "$dir/sources.list"
	(lock "$dir/lock"
	 debian_apt "$1" apt-get update -qq -o APT::Update::Error-Mode=any \
		-o Acquire::Languages=none -o Acquire::GzipIndexes=false \
		-o Acquire::http::Timeout=30 > "$dir/log" 2>&1) &&
		touch "$dir/fetched"
}

# debian_version RELEASE PACKAGE: prints its newest version
debian_version() {
	debian_apt "$1" apt-cache show "$2" 2>/dev/null | sed -n 's/^Version: //p' |
		sort -V | tail -n 1
}

# debian_unpack RELEASE DIRECTORY PACKAGE=VERSION...: fetches packages and unpacks them
debian_unpack() {
	local release=$1 dir=$2 debs deb
	shift 2
	debs=$(mktemp -d) || return 1
	(cd "$debs" && debian_apt "$release" apt-get download -qq "$@" >&2) ||
		{ rm -rf "$debs"; return 1; }
	for deb in "$debs"/*.deb; do
		dpkg-deb -x "$deb" "$dir" || { rm -rf "$debs"; return 1; }
	done
	rm -rf "$debs"
}
