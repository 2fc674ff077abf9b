#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Programs of the commit in tests/abi.base, with the library of that commit, run on the
# present modules. Programs that test which errors the rules of the uAPI give are left out:
# a member that was unknown then may be known now.
. ./lib.sh
BASE=$(sed '/^#/d' ../../abi.base)
OLD=../../../build/abi/$BASE
BIN=$OLD/build/user

if [ ! -e "$OLD/built" ]; then
	skip "programs of commit ${BASE:0:12}" "the commit is not in this tree, see tests/abi"
	finish
fi
for prog in external ops errors events memory options transports; do
	tap $BIN/tests/$prog --device "$DEV0" --peer-device "$DEV1"
done
names() { "$1" --json | jq -r 'map(.name) | join(" ")'; }
is "xv_devinfo of that commit shows the devices" "$(names $BIN/bin/xv_devinfo)" "$DEV0 $DEV1"
finish
