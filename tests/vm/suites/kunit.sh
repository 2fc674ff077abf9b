#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# KUnit tests. Each is a module, built for a kernel with KUnit; its results are in the
# kernel log.
. ./lib.sh

TOOL=/lib/modules/$(uname -r)/build/tools/testing/kunit/kunit.py
PARSED=$(mktemp)

# parse SUITES: prints the results in the form that kunit.py expects, with a header. Each module
# counts its suites from 1.
parse() {
	printf 'TAP version 14\n1..%s\n' "$1"
	dmesg | sed 's/^\[[^]]*\] //' |
		awk '/^(not )?ok [0-9]+ / { sub(/ok [0-9]+/, "ok " ++n) } { print }'
}

dmesg -C
suites=0
for ko in ../../../build/$(uname -r)/kmod/*/*_test.ko; do
	name=$(basename "$ko" .ko)
	ok "load $name" insmod "$ko"
	suites=$((suites + $(find /sys/kernel/debug/kunit -name results | wc -l)))
	ok "unload $name" rmmod "$name"
done
parse $suites | "$TOOL" parse | sed 's/\x1b\[[0-9;]*m//g; s/^\[[0-9:]*\] //' > "$PARSED"
suite='' found=0
while read -r line; do
	case $line in
	=*\(*subtest*) suite=${line#*= } suite=${suite%% (*} found=$((found + 1)) ;;
	*=*) ;;
	"[PASSED] $suite") ;;
	"[PASSED] "*) pass "$suite: ${line#*] }" ;;
	"[SKIPPED] "*) skip "$suite: ${line#*] }" "" ;;
	"["*) fail "$suite: ${line#*] }" "$(grep -B 12 -F "$line" "$PARSED")" ;;
	esac
done < "$PARSED"
is "the log has the results of all suites" $found $suites
rm -f "$PARSED"
finish
