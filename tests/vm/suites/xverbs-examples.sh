#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The examples of libxverbs between two functions, and a program that is built with
# pkg-config against an installed tree.
. ./lib.sh
EX=../../../build/user/examples

# both NAME REGEX: runs an example, its server on one function, its client on the other
both() {
	PORT=$((PORT + 1))
	pair "$1: server and client" "listening $PORT" "$2" \
		"$EX/$1" -d "$DEV1" -p $PORT -- "$EX/$1" -d "$DEV0" -p $PORT 127.0.0.1
}

# readme_shows FILE: README contains exactly this example
# shellcheck disable=SC2317,SC2016 # called by ok; no expansion meant
readme_shows() {
	sed -n '/^```c$/,/^```$/p' ../../../README.md | sed '1d;$d' |
		cmp - ../../../userlib/examples/"$1"
}

like "first: one process" 'hello, RDMA' $EX/first "$DEV0"
ok "README contains this program" readme_shows first.c
both rc 'client: "RDMA read operation"'

# operation DESCRIPTION REGEX OPTION...: runs server_client, which has the options of the
# sample in the DOCA guide
operation() {
	local what=$1 want=$2
	shift 2
	PORT=$((PORT + 1))
	pair "server_client: $what" "listening $PORT" "$want" \
		"$EX/server_client" -d "$DEV1" -p $PORT "$@" -- \
		"$EX/server_client" -d "$DEV0" -p $PORT "$@" -c 127.0.0.1
}

operation "its defaults" 'client: 1 times send of 64 bytes'
for op in Send Write Read; do
	operation "$op" "100 times ${op,} of 4096" -ro $op -n 100 -s 4096 -qt RC
	operation "$op, in a burst" "64 times ${op,} of 1000" --rdma-oper-type $op --iters 64 \
		--buffer-size 1000 --send-burst
done
operation "a line for each message" 'message 2: 64 bytes' -n 3 -l 60 -gid "$(gid_index "$DEV0")"
refused "server_client: an unknown operation" 'must be Send, Write or Read' \
	$EX/server_client -ro Swap
refused "server_client: an unknown type" 'must be RC' $EX/server_client -qt UD
like "server_client: help" 'gid-index' $EX/server_client -h
both srq '320 messages over 4 queue pairs'
both multicast 'received 10 datagrams'
both apm 'client: 100 rounds, migrated'
if $EX/../bin/xv_devinfo --device "$DEV0" --verbose | grep -Eq 'feature dc +yes'; then
	both dc 'client: 64 messages from one initiator to 8 targets'
else
	skip "dc: server and client" "the device does not support it"
fi
like "wait_cq: the sample of the DOCA guide" 'buffer 3 is identical to buffer 1' \
	$EX/wait_cq -d "$DEV0"
like "counters: masked atomics" '16 counters: the sum is 12000' $EX/counters -d "$DEV0"
like "timestamps: data and times of completions" '32 messages: the data is right' \
	$EX/timestamps -d "$DEV0"
like "timestamps: the queue pair has them" 'messages of up to 64 bytes come in the completion' \
	$EX/timestamps -d "$DEV0"
like "exp_fields: experimental verbs" 'counters 0002000100040005, before 0001fffe00030004' \
	$EX/exp_fields "$DEV0" "$(gid_index "$DEV0")"
like "tasks: one post over six queues" 'one post: the sum is 303' $EX/tasks -d "$DEV0"
like "matrix: one write gathers and scatters columns" '16 columns of 64 rows are right' \
	$EX/matrix -d "$DEV0"
like "collective: six processes" '6 ranks, 10 runs' $EX/collective -d "$DEV0"

# udev MODE: lets udev apply the installed rule with another mode
udev() {
	mkdir -p /run/udev/rules.d
	sed "/SUBSYSTEM==\"xverbs\"/s/MODE=.*/MODE=\"$1\"/" \
		"$tree"/opt/xv/lib/udev/rules.d/60-xverbs.rules > /run/udev/rules.d/60-xverbs.rules
	/lib/systemd/systemd-udevd --daemon 2> /dev/null
	udevadm trigger --action=add --subsystem-match=misc --subsystem-match=xverbs
	udevadm settle
	ok "udev ends" udev_stop
}

tree=$(mktemp -d /dev/shm/inst.XXXXXX)
ok "install with DESTDIR and PREFIX" \
	make -s -C ../../../userlib install DESTDIR="$tree" PREFIX=/opt/xv
udev 0666
is "udev: group and mode of the nodes" \
	"$(stat -c '%G %a' /dev/xverbs /dev/infiniband/xverbs* | uniq)" 'rdma 666'
udev 0660
member=(setpriv --reuid 1000 --regid 1000 --groups rdma)
other=(setpriv --reuid 1000 --regid 1000 --clear-groups)
like "udev, mode 0660: a member of the group may open the device" "^$DEV0" \
	"${member[@]}" ../../../build/user/bin/xv_devinfo
refused "udev, mode 0660: others may not" '/dev/infiniband/xverbs0: Permission denied' \
	"${other[@]}" ../../../build/user/bin/xv_perf lat write
udev 0666
export PKG_CONFIG_LIBDIR=$tree/opt/xv/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$tree
# shellcheck disable=SC2046 # a list of flags
ok "a program builds with pkg-config" cc -D_GNU_SOURCE -o "$tree/first" \
	../../../userlib/examples/first.c $(pkg-config --cflags --libs libxverbs)
LD_LIBRARY_PATH=$tree/opt/xv/lib like "the program runs with the shared library" 'hello, RDMA' \
	"$tree/first" "$DEV0"
rm -rf "$tree"
finish
