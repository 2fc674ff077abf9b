#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The libraries of userlib/doca between two functions: all programs of tests/doca, and the
# examples.
. ./lib.sh

[ -e /dev/udmabuf ] || modprobe vgem
for source in ../../doca/*.c; do
	program=${source##*/}
	[[ $program != *removal.c ]] || continue	# suite removal
	tap ../../../build/user/tests/doca/"${program%.c}"
done

EX=../../../build/user/examples

# options OPTION... -- OPTION...: sets FIRST and SECOND, the options of a passive and of an active
# program.
options() {
	FIRST=()
	while [ $# -gt 0 ] && [ "$1" != -- ]; do FIRST+=("$1"); shift; done
	SECOND=("${@:2}")
}

# files DIRECTORY PASSIVE ACTIVE REGEX OPTIONS: runs a pair of examples that exchange files; those
# with memory or an event get a file for it.
files() {
	local dir map=() ex=$EX/$1
	dir=$(mktemp -d)
	[[ $2 != *responder ]] || map=(-m "$dir/map")
	options "${@:5}"
	pair "$1: $2 and $3" true "$4" \
		"$ex/$2" -d "$DEV1" "${map[@]}" -ld "$dir/passive" -re "$dir/active" \
		"${FIRST[@]}" -- \
		"$ex/$3" -d "$DEV0" "${map[@]}" -ld "$dir/active" -re "$dir/passive" \
		"${SECOND[@]}"
	is "no file is left" "$(ls "$dir")" ''
	rmdir "$dir"
}

# all_pairs DIRECTORY: runs the pairs of programs that exist for tasks and for jobs
all_pairs() {
	files "$1" rdma_read_responder rdma_read_requester 'read 4096 bytes: Hi DOCA RDMA!'
	files "$1" rdma_read_responder rdma_read_requester 'bytes: other text' -r 'other text'
	files "$1" rdma_write_responder rdma_write_requester 'peer has written: Hi DOCA RDMA!'
	files "$1" rdma_write_responder rdma_write_requester 'peer has written: other text' \
		-- -w 'other text'
	files "$1" rdma_write_immediate_responder rdma_write_immediate_requester \
		'peer has written with immediate 0xabcd: Hi DOCA RDMA!'
	files "$1" rdma_receive rdma_send 'received 14 bytes: Hi DOCA RDMA!' \
		"${gid[@]}" -- "${gid[@]}"
	files "$1" rdma_receive rdma_send 'received 11 bytes: other text' \
		-- --send-string 'other text'
	files "$1" rdma_receive_immediate rdma_send_immediate \
		'received with immediate 0xabcd: Hi DOCA RDMA!'
}

# by_cm PASSIVE ACTIVE REGEX OPTIONS: the same by rdma_cm, for examples of RDMA tasks
by_cm() {
	local dir map=() ex=$EX/doca_rdma
	dir=$(mktemp -d)
	[[ $1 != *responder ]] || map=(-m "$dir/map")
	options "${@:4}"
	PORT=$((PORT + 1))
	pair "rdma_cm: $1 and $2" "cm_listening $PORT" "$3" \
		"$ex/$1" -d "$DEV0" "${map[@]}" -cm -lp $PORT "${FIRST[@]}" -- \
		"${PEER[@]}" "$ex/$2" -d "$DEV1" "${map[@]}" -cm -lp $PORT -sa $ADDR0 \
		"${SECOND[@]}"
	is "no file is left" "$(ls "$dir")" ''
	rmdir "$dir"
}

gid=(-g "$(gid_index "$DEV0")")
all_pairs doca_jobs
all_pairs doca_rdma
files doca_rdma rdma_receive rdma_send 'received 14 bytes: Hi DOCA RDMA!' -tt dc -- -tt dc
files doca_rdma rdma_write_responder rdma_write_requester 'peer has written: other text' \
	-tt dc -- -tt dc -w 'other text'
files doca_rdma rdma_sync_event_responder rdma_sync_event_requester 'in the end the event is 12'
files doca_rdma rdma_multi_conn_receive rdma_multi_conn_send 'received on connection 3: Hi DOCA' \
	-nc 4 -- -nc 4
refused "no DC by rdma_cm" 'no connections of DC' \
	"$EX/doca_rdma/rdma_send" -d "$DEV0" -tt dc -cm -sa $ADDR0

gid=(-gid "${gid[1]}")
# verbs OPERATION REGEX: runs server and client. Each has a text of its own, so the output shows
# which one was transferred.
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
by_cm rdma_receive rdma_send 'received 11 bytes: other text' -- -s 'other text'
by_cm rdma_receive_immediate rdma_send_immediate 'received with immediate 0xabcd: Hi DOCA RDMA!'
by_cm rdma_write_responder rdma_write_requester 'peer has written: other text' \
	-- -w 'other text'
by_cm rdma_read_responder rdma_read_requester 'read 4096 bytes: Hi DOCA RDMA!'
by_cm rdma_sync_event_responder rdma_sync_event_requester 'in the end the event is 12'
by_cm rdma_multi_conn_receive rdma_multi_conn_send 'received on connection 2: other text' \
	-nc 3 -- -nc 3 -s 'other text'
PORT=$((PORT + 1))
# shellcheck disable=SC2016 # of the other shell
pair "rdma_cm: rdma_multi_conn_receive and rdma_send twice" "cm_listening $PORT" \
	'received on connection .: Hi DOCA RDMA!' \
	"$EX/doca_rdma/rdma_multi_conn_receive" -d "$DEV0" -cm -lp $PORT -nc 2 -- \
	"${PEER[@]}" bash -c '"$@" && "$@"' - \
	"$EX/doca_rdma/rdma_send" -d "$DEV1" -cm -lp $PORT -sa $ADDR0
ok "back in one namespace" namespaces_down

finish
