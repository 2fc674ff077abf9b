#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The programs that tests/abi built, with the libraries of their commits, run on the present
# modules.
. ./lib.sh
names() { "$1" --json | jq -r 'map(.name) | join(" ")'; }

run_programs_of() {
	local old=../../../build/abi/$1 commit=${1:0:12} prog programs
	if [ ! -e "$old/built" ]; then
		skip "programs of commit $commit" "the commit is not in this tree, see tests/abi"
		return
	fi
	mapfile -t programs < "$old/built"
	for prog in "${programs[@]}"; do
		tap "$old/build/user/tests/$prog" --device "$DEV0" --peer-device "$DEV1"
	done
	is "xv_devinfo of commit $commit shows the devices" \
		"$(names "$old/build/user/bin/xv_devinfo")" "$DEV0 $DEV1"
}

# Their libraries bind to a device by its name or index.
by_name=/sys/module/xverbs/parameters/bind_by_name
echo 1 > $by_name
mapfile -t bases < <(sed '/^#/d' ../../abi.base)
for base in "${bases[@]}"; do run_programs_of "$base"; done
echo 0 > $by_name
finish
