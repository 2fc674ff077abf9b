#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Yesterday's programs, of the commit in tests/abi.base, on today's modules: each
# with the library of its own day. Which errors the rules of the uAPI give is not
# asked of them: what was unknown then may be known today.
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
names() { "$1" --json | python3 -c \
	'import json, sys; print(*(d["name"] for d in json.load(sys.stdin)))'; }
is "xv_devinfo of that day shows the devices" "$(names $BIN/bin/xv_devinfo)" "$DEV0 $DEV1"
finish
