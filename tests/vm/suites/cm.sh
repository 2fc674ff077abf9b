#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Programs of rdma-core on rdma_cm and rsockets, between two functions in different network
# namespaces: connections, datagrams, multicast, streams, a file.
. ./lib.sh

PEER=(ip netns exec peer)
FILE=/dev/shm/file

ok "two functions in two network namespaces" peer_up

# The programs of multicast pause for seconds.
meanwhile pair "mckey: multicast" joined 'return status 0' \
	stdbuf -oL mckey -m 239.1.2.3 -b $ADDR0 -C 10 -- \
	"${PEER[@]}" mckey -s -m 239.1.2.3 -b $ADDR1 -C 10
pair "ucmatose" "cm_listening 7471" 'return status 0' \
	ucmatose -c 4 -C 20 -S 1000 -- "${PEER[@]}" ucmatose -s $ADDR0 -c 4 -C 20 -S 1000
pair "udaddy" "cm_listening 7174" 'return status 0' \
	udaddy -C 20 -S 1000 -- "${PEER[@]}" udaddy -s $ADDR0 -C 20 -S 1000
# The server of cmtime does not exit after its clients.
STAYS=1 pair "cmtime" "cm_listening 7471" 'connect' \
	cmtime -c 20 -p 7471 -- "${PEER[@]}" cmtime -s $ADDR0 -c 20 -p 7471
pair "rdma_server, rdma_client" "cm_listening 7471" 'rdma_client: end 0' \
	rdma_server -s $ADDR0 -p 7471 -- "${PEER[@]}" rdma_client -s $ADDR0 -p 7471
pair "rdma_xserver, rdma_xclient" "cm_listening 7471" 'end 0' \
	rdma_xserver -p 7471 -- "${PEER[@]}" rdma_xclient -s $ADDR0 -p 7471
# Mode a is left out: there rstream polls, and it takes the hang-up that may come together
# with the last data for an error.
for test in b n; do
	pair "rstream: verified data, mode $test" "cm_listening 7471" '64k_lat|64k' \
		rstream -b $ADDR0 -p 7471 -T $test -T v -I 20 -S 65536 -C 20 -- \
		"${PEER[@]}" rstream -s $ADDR0 -p 7471 -T $test -T v -I 20 -S 65536 -C 20
done
pair "riostream: verified data" "cm_listening 7471" '64k' \
	riostream -b $ADDR0 -p 7471 -T v -I 20 -S 65536 -C 20 -- \
	"${PEER[@]}" riostream -s $ADDR0 -p 7471 -T v -I 20 -S 65536 -C 20
head -c 64M /dev/urandom > $FILE
STAYS=1 pair "rcopy: a file of 64 MiB" "cm_listening 7427" '' \
	rcopy -p 7427 -- "${PEER[@]}" rcopy $FILE $ADDR0:$FILE.copy -p 7427
ok "the copy is the same" cmp $FILE $FILE.copy
rm -f $FILE $FILE.copy

PORT=$((PORT + 1))
pair "ib_write_bw by rdma_cm" "cm_listening $PORT" '^ *4096 +500' \
	ib_write_bw -R -F -s 4096 -n 500 -d "$DEV0" -p $PORT -- \
	"${PEER[@]}" ib_write_bw -R -F -s 4096 -n 500 -d "$DEV1" -p $PORT $ADDR0
PORT=$((PORT + 1))
pair "ib_send_lat by rdma_cm" "cm_listening $PORT" '^ *64 +200' \
	ib_send_lat -R -F -s 64 -n 200 -d "$DEV0" -p $PORT -- \
	"${PEER[@]}" ib_send_lat -R -F -s 64 -n 200 -d "$DEV1" -p $PORT $ADDR0
if full; then
	for program in "ib_read_bw -s 65536 -n 200" "ib_send_bw -s 4096 -n 500 -q 4" \
			"ib_atomic_bw -n 200" "ib_write_lat -s 8 -n 200" \
			"ib_send_bw -c UD -s 1024 -n 200"; do
		PORT=$((PORT + 1))
		# shellcheck disable=SC2086 # a program with arguments
		pair "$program by rdma_cm" "cm_listening $PORT" '^ *[0-9]+ +[0-9]+' \
			$program -R -F -d "$DEV0" -p $PORT -- \
			"${PEER[@]}" $program -R -F -d "$DEV1" -p $PORT $ADDR0
	done
fi
join
ok "back in one namespace" peer_down
finish
