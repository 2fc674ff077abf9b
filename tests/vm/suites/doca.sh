#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The libraries of userlib/doca between two functions: all programs of tests/doca, and the examples
# of RDMA jobs.
. ./lib.sh

for source in ../../doca/*.c; do
	program=${source##*/}
	[ "$program" != removal.c ] || continue	# suite removal
	tap ../../../build/user/tests/doca/"${program%.c}"
done

# jobs PASSIVE ACTIVE REGEX OPTION...: runs a pair of examples that exchange files; those with a
# memory map get a file for it.  The options before -- are for the passive one.
jobs() {
	local ex=../../../build/user/examples/doca_jobs dir map=() want=$3
	local passive=("$ex/$1" -d "$DEV1") active=("$ex/$2" -d "$DEV0")
	dir=$(mktemp -d)
	[[ $1 != *responder ]] || map=(-m "$dir/map")
	shift 3
	while [ $# -gt 0 ] && [ "$1" != -- ]; do passive+=("$1"); shift; done
	[ $# -eq 0 ] || shift
	pair "${passive[0]##*/} and ${active[0]##*/}" true "$want" \
		"${passive[@]}" "${map[@]}" -ld "$dir/passive" -re "$dir/active" -- \
		"${active[@]}" "${map[@]}" -ld "$dir/active" -re "$dir/passive" "$@"
	is "no file is left" "$(ls "$dir")" ''
	rmdir "$dir"
}

gid=(-g "$(gid_index "$DEV0")")
jobs rdma_read_responder rdma_read_requester 'read 4096 bytes: Hi DOCA RDMA!'
jobs rdma_read_responder rdma_read_requester 'bytes: other text' -r 'other text'
jobs rdma_write_responder rdma_write_requester 'peer has written: Hi DOCA RDMA!'
jobs rdma_write_responder rdma_write_requester 'peer has written: other text' -- -w 'other text'
jobs rdma_write_immediate_responder rdma_write_immediate_requester \
	'peer has written with immediate 0xabcd: Hi DOCA RDMA!'
jobs rdma_receive rdma_send 'received 14 bytes: Hi DOCA RDMA!' "${gid[@]}" -- "${gid[@]}"
jobs rdma_receive rdma_send 'received 11 bytes: other text' -- --send-string 'other text'
jobs rdma_receive_immediate rdma_send_immediate 'received with immediate 0xabcd: Hi DOCA RDMA!'

finish
