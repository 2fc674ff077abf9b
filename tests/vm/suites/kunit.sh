#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# KUnit tests of the modules: each is a module of its own, built for a kernel
# that has KUnit, and reports through the kernel log.
# vm: --functions 2
# kernels: debug
# timeout: 120
. ./lib.sh

dmesg -C
for ko in ../../../build/$(uname -r)/kmod/*/*_test.ko; do
	name=$(basename "$ko" .ko)
	ok "load $name" insmod "$ko"
	ok "unload $name" rmmod "$name"
done
report=$(dmesg | sed 's/^\[[^]]*\] *//')
while read -r line; do
	case $line in
	"not ok "*) fail "$(cut -d" " -f4- <<< "$line")" "$(grep -B 12 -F "$line" <<< "$report")" ;;
	"ok "*) pass "$(cut -d" " -f3- <<< "$line")" ;;
	esac
done <<< "$(sed 's/^ *//' <<< "$report" | grep -E '^(not )?ok ')"
ok "tests ran" grep -q '^ *ok [0-9]' <(printf '%s\n' "$report")
finish
