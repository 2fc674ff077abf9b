#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Tools of administrators find what they expect of a ConnectX adapter, or say that something is
# not supported: ethtool, devlink, rdma, infiniband-diags, mstflint. Counters count the traffic
# of qperf and perftest.
. ./lib.sh

dir=/sys/class/infiniband/$DEV0
pci=$(basename "$(readlink -f $dir/device)")
net=$(interface "$DEV0")

# port_counter NAME, hw_counter NAME: of the first device
port_counter() { cat $dir/ports/1/counters/"$1"; }
hw_counter() { cat $dir/ports/1/hw_counters/"$1"; }

# ---- Interface and device
like "ethtool: the driver" '^driver: mlx5_core$' ethtool -i "$net"
like "ethtool: the PCI address" "^bus-info: $pci$" ethtool -i "$net"
like "ethtool: the speed" 'Speed: 100000Mb/s' ethtool "$net"
like "ethtool: the link" 'Link detected: yes' ethtool "$net"
refused "ethtool: no counters of its own" 'no stats available' ethtool -S "$net"
refused "ethtool: no cable to read" 'not supported' ethtool -m "$net"
like "devlink: the driver" 'driver mlx5_core' devlink dev info "pci/$pci"
like "devlink: the board" 'fw.psid XHC0000000001' devlink dev info "pci/$pci"
is "devlink: the firmware has the version that verbs report" \
	"$(devlink dev info "pci/$pci" | awk '$1 == "fw.version" { print $2; exit }')" \
	"$(< $dir/fw_ver)"
like "devlink: the firmware is healthy" 'state healthy' \
	devlink health show "pci/$pci" reporter fw
ok "devlink: diagnosis" devlink health diagnose "pci/$pci" reporter fw
like "devlink: parameters" 'enable_roce' devlink dev param show
refused "devlink: no eswitch" 'not supported' devlink dev eswitch show "pci/$pci"
like "ibstat: the type of a ConnectX-5" 'CA type: MT4119' ibstat "$DEV0"
like "ibstat: the port is active" 'State: Active' ibstat "$DEV0" 1
like "ibstatus: the link layer" 'link_layer:\s+Ethernet' ibstatus "$DEV0"
refused "perfquery: a RoCE port has no management datagrams" 'client_register' \
	sh -c 'perfquery -C "$1" || exit 1' - "$DEV0"

# ---- Direct access to the adapter's registers, which it does not offer
# no_access REGEX PROGRAM ARGUMENT...: the program says, in these words, that it cannot open the
# device
no_access() { refused "$2: no access" "^$1" "${@:2}"; }
name=${pci//./\\.}
# That of Debian 13 does not print the cause.
no_access "-E- Cannot open Device: $name\.( .* MFE_CR_ERROR)?[[:space:]]*$" mstflint -d "$pci" query
no_access '-E- Failed to open the device$' mstconfig -d "$pci" query
no_access "-E- Failed to open device: \"$name\"" mstlink -d "$pci"
no_access "-E- Failed to open device: \"$name\"" mstreg -d "$pci" --show_regs
no_access "-E- Failed to open device $name!$" mstvpd "$pci"
no_access 'mopen: ' mstmcra "$pci" 0xf0014
no_access "Unable to open device $name\. Exiting\.$" mstregdump "$pci"
ok "the port still works after that" ibv_devinfo -d "$DEV0" -i 1

# ---- Counters
before=$(hw_counter rx_write_requests)
data=$(port_counter port_rcv_data)
packets=$(port_counter port_rcv_packets)
perf "traffic: 500 writes of 4096 bytes" ib_write_bw -s 4096 -m 1024 -n 500
is "hw_counters: its write requests" $(($(hw_counter rx_write_requests) - before)) 500
# Packets of 1024 bytes, with 24 bytes of headers, counted in words of 4 bytes
is "port counters: its packets" $(($(port_counter port_rcv_packets) - packets)) 2000
is "port counters: its bytes" $(($(port_counter port_rcv_data) - data)) $((2000 * (1024 + 24) / 4))
like "rdma: the same counters" "rx_write_requests $((before + 500)) " \
	rdma statistic show link "$DEV0/1"
before=$(hw_counter rx_read_requests)
data=$(port_counter port_xmit_data) packets=$(port_counter port_xmit_packets)
perf "traffic: 300 reads of 3000 bytes" ib_read_bw -s 3000 -m 1024 -n 300
is "hw_counters: its read requests" $(($(hw_counter rx_read_requests) - before)) 300
is "port counters: packets sent" $(($(port_counter port_xmit_packets) - packets)) 900
is "port counters: bytes sent" $(($(port_counter port_xmit_data) - data)) \
	$((300 * (3000 + 3 * 24) / 4))
before=$(hw_counter rx_atomic_requests)
perf "traffic: 200 atomic operations" ib_atomic_bw -n 200
is "hw_counters: its atomic requests" $(($(hw_counter rx_atomic_requests) - before)) 200
like "rdma: objects of the driver" "$DEV0: pd [1-9]" rdma resource show "$DEV0"

# ---- qperf, which finds the address of a RoCE port by rdma_cm only
ok "two functions in two network namespaces" peer_up
qperf > /dev/null 2>&1 &
qperf_server=$!
ok "qperf: the server listens" wait_for 10 listening 19765
like "qperf: latency of messages" 'latency +=' \
	ip netns exec peer qperf -cm 1 -t 1 $ADDR0 rc_lat
for test in rc_bw rc_rdma_write_bw rc_rdma_read_bw; do
	like "qperf: $test" ' bw +=' ip netns exec peer qperf -cm 1 -t 1 $ADDR0 $test
done
like "qperf: fetch and add" 'msg_rate +=' \
	ip netns exec peer qperf -cm 1 -t 1 $ADDR0 rc_fetch_add_mr
kill $qperf_server
wait $qperf_server
ok "back in one namespace" peer_down
finish
