#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The adapter runs on the CPUs that are online and allowed; interrupts arrive on the CPU of
# their affinity.
. ./lib.sh
LIMIT=60

online() { echo "$2" > /sys/devices/system/cpu/cpu"$1"/online; }
threads() { pgrep '^xhca/' -l | awk '{ print $2 }' | sort | xargs; }
# Newer kernels name the interrupt chip xhca-PCI-MSIX, older ones xhca-MSI-X.
interrupts() { grep -E 'xhca-(PCI-)?MSI-?X' /proc/interrupts; }
irqs() { interrupts | awk '{ print $1 + 0 }'; }
# taken_by CPU: prints the number of interrupts of the adapter on this CPU
taken_by() { interrupts | awk -v c=$(($1 + 2)) '{ n += $c } END { print n }'; }

for cpu in 0 1; do
	for irq in $(irqs); do echo $cpu > /proc/irq/"$irq"/smp_affinity_list; done
	here=$(taken_by $cpu) there=$(taken_by $((1 - cpu)))
	pingpong "completion events with interrupts on CPU $cpu" \
		ibv_rc_pingpong "$DEV0" "$DEV1" -e -n 200
	is "no interrupt on the other CPU" "$(taken_by $((1 - cpu)))" "$there"
	ok "at least 200 interrupts on this CPU" [ "$(taken_by $cpu)" -ge $((here + 200)) ]
done

is "a thread for each CPU" "$(threads)" "xhca/0 xhca/1"
ok "a CPU goes offline" online 1 0
is "its thread ends" "$(threads)" "xhca/0"
pingpong "the adapter runs on the other CPU" ibv_rc_pingpong "$DEV0" "$DEV1" -n 200
ok "the CPU comes online again" online 1 1
is "it has a thread again" "$(threads)" "xhca/0 xhca/1"
pingpong "the adapter runs on both" ibv_rc_pingpong "$DEV0" "$DEV1" -n 200

# shellcheck disable=SC2317 # called by ok
hotplug_under_traffic() {
	local client
	ib_send_bw -F -D 6 -d "$DEV0" -x "$(gid_index "$DEV0")" &
	wait_for 10 listening 18515 || return
	ib_send_bw -F -D 6 -d "$DEV1" -x "$(gid_index "$DEV1")" 127.0.0.1 &
	client=$!
	for _ in 1 2 3 4 5; do
		online 1 0
		online 1 1
	done
	wait $client
}
ok "a CPU goes offline and online under traffic" hotplug_under_traffic

ok "unload" unload_xhca
refused "an invalid list of CPUs is refused" '' load xhca cpus=some
refused "a list of CPUs that do not exist is refused" '' load xhca cpus=7
ok "load for one CPU" load xhca cpus=1
is "one thread" "$(threads)" "xhca/1"
ports_up
pingpong "the adapter runs on that CPU" ibv_rc_pingpong "$DEV0" "$DEV1" -n 200
ok "its last CPU goes offline" online 1 0
is "the other CPU helps" "$(threads)" "xhca/0"
pingpong "the adapter runs there" ibv_rc_pingpong "$DEV0" "$DEV1" -n 200
ok "the allowed CPU comes online again" online 1 1
is "the other CPU helps no more" "$(threads)" "xhca/1"
pingpong "the adapter runs on the allowed CPU" ibv_rc_pingpong "$DEV0" "$DEV1" -n 200
ok "unload" unload_xhca
ok "load for all CPUs, as the next suites expect it" load xhca
is "a thread for each CPU" "$(threads)" "xhca/0 xhca/1"
ports_up
finish
