#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The libraries of userlib/doca between two functions: all programs of tests/doca, and the
# examples.
. ./lib.sh

for source in ../../doca/*.c; do
	program=${source##*/}
	[ "$program" != removal.c ] || continue	# suite removal
	tap ../../../build/user/tests/doca/"${program%.c}"
done

EX=../../../build/user/examples

# files DIRECTORY PASSIVE ACTIVE REGEX OPTION...: runs a pair of examples that exchange files; those
# with memory get a file for it.  The options before -- are for the passive one.
files() {
	local dir map=() want=$4 what="$1: $2 and $3"
	local passive=("$EX/$1/$2" -d "$DEV1") active=("$EX/$1/$3" -d "$DEV0")
	dir=$(mktemp -d)
	[[ $2 != *responder ]] || map=(-m "$dir/map")
	shift 4
	while [ $# -gt 0 ] && [ "$1" != -- ]; do passive+=("$1"); shift; done
	[ $# -eq 0 ] || shift
	pair "$what" true "$want" \
		"${passive[@]}" "${map[@]}" -ld "$dir/passive" -re "$dir/active" -- \
		"${active[@]}" "${map[@]}" -ld "$dir/active" -re "$dir/passive" "$@"
	is "no file is left" "$(ls "$dir")" ''
	rmdir "$dir"
}

# all_pairs DIRECTORY OPTION...: the pairs that each API has; the options are for both programs.
all_pairs() {
	local dir=$1
	shift
	files "$dir" rdma_read_responder rdma_read_requester 'read 4096 bytes: Hi DOCA RDMA!' \
		"$@" -- "$@"
	files "$dir" rdma_read_responder rdma_read_requester 'bytes: other text' \
		"$@" -r 'other text' -- "$@"
	files "$dir" rdma_write_responder rdma_write_requester 'peer has written: Hi DOCA RDMA!' \
		"$@" -- "$@"
	files "$dir" rdma_write_responder rdma_write_requester 'peer has written: other text' \
		"$@" -- "$@" -w 'other text'
	files "$dir" rdma_write_immediate_responder rdma_write_immediate_requester \
		'peer has written with immediate 0xabcd: Hi DOCA RDMA!' "$@" -- "$@"
	files "$dir" rdma_receive rdma_send 'received 14 bytes: Hi DOCA RDMA!' \
		"$@" "${gid[@]}" -- "$@" "${gid[@]}"
	files "$dir" rdma_receive rdma_send 'received 11 bytes: other text' \
		"$@" -- "$@" --send-string 'other text'
	files "$dir" rdma_receive_immediate rdma_send_immediate \
		'received with immediate 0xabcd: Hi DOCA RDMA!' "$@" -- "$@"
}

# by_cm PASSIVE ACTIVE REGEX OPTION...: the same by rdma_cm, for examples of RDMA tasks; the options
# are for the active one.
by_cm() {
	local dir map=() want=$3 waits=$1 does=$2
	dir=$(mktemp -d)
	[[ $1 != *responder ]] || map=(-m "$dir/map")
	shift 3
	PORT=$((PORT + 1))
	pair "rdma_cm: $waits and $does" "cm_listening $PORT" "$want" \
		"$EX/doca_rdma/$waits" -d "$DEV0" "${map[@]}" -cm -lp $PORT -- \
		"${PEER[@]}" "$EX/doca_rdma/$does" -d "$DEV1" "${map[@]}" -cm -lp $PORT \
		-sa $ADDR0 "$@"
	is "no file is left" "$(ls "$dir")" ''
	rmdir "$dir"
}

gid=(-g "$(gid_index "$DEV0")")
all_pairs doca_jobs
all_pairs doca_rdma
files doca_rdma rdma_receive rdma_send 'received 14 bytes: Hi DOCA RDMA!' -tt dc -- -tt dc
files doca_rdma rdma_write_responder rdma_write_requester 'peer has written: other text' \
	-tt dc -- -tt dc -w 'other text'
refused "no DC by rdma_cm" 'no connections of DC' \
	"$EX/doca_rdma/rdma_send" -d "$DEV0" -tt dc -cm -sa $ADDR0

gid=(-gid "${gid[1]}")
# verbs OPERATION REGEX: the server has no text of its own for a send or a write.
verbs() {
	local program=$EX/doca_verbs/verbs_server_client
	PORT=$((PORT + 1))
	pair "verbs_server_client: $1" "listening $PORT" "$2" \
		"$program" -d "$DEV1" "${gid[@]}" -p $PORT -ro "$1" -t 'of the server' -- \
		"$program" -d "$DEV0" "${gid[@]}" -p $PORT -ro "$1" -t 'of the client' -c 127.0.0.1
}
verbs Send 'received 14 bytes: of the client'
verbs Write 'client has written: of the client'
verbs Read '^read: of the server'
like "verbs_wait_cq" '^buffer 2: passed on' \
	"$EX/doca_verbs/verbs_wait_cq" -d "$DEV0" -gi "${gid[1]}"

PEER=(ip netns exec peer)
ok "two functions in two network namespaces" namespaces_up
by_cm rdma_receive rdma_send 'received 11 bytes: other text' -s 'other text'
by_cm rdma_receive_immediate rdma_send_immediate 'received with immediate 0xabcd: Hi DOCA RDMA!'
by_cm rdma_write_responder rdma_write_requester 'peer has written: other text' -w 'other text'
by_cm rdma_read_responder rdma_read_requester 'read 4096 bytes: Hi DOCA RDMA!'
ok "back in one namespace" namespaces_down

finish
