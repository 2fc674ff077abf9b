#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# KUnit tests. Each is a module, built for a kernel with KUnit; its results are in the
# kernel log.
. ./lib.sh

TOOL=/lib/modules/$(uname -r)/build/tools/testing/kunit/kunit.py
PARSED=$(mktemp)

# parse SUITES: prints the results in the form that kunit.py expects, with a header
parse() {
	printf 'TAP version 14\n1..%s\n' "$1"
	dmesg | sed 's/^\[[^]]*\] *//'
}

for ko in ../../../build/$(uname -r)/kmod/*/*_test.ko; do
	name=$(basename "$ko" .ko)
	dmesg -C
	ok "load $name" insmod "$ko"
	suites=$(find /sys/kernel/debug/kunit -name results | wc -l)
	ok "unload $name" rmmod "$name"
	parse "$suites" | "$TOOL" parse | sed 's/\x1b\[[0-9;]*m//g; s/^\[[0-9:]*\] //' > "$PARSED"
	while read -r line; do
		case $line in
		*=*) ;;
		"[PASSED] "*) pass "$name: ${line#*] }" ;;
		"[SKIPPED] "*) skip "$name: ${line#*] }" "" ;;
		"["*) fail "$name: ${line#*] }" "$(grep -B 12 -F "$line" "$PARSED")" ;;
		esac
	done < "$PARSED"
done
rm -f "$PARSED"
finish
