#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# xhca is unloaded and loaded with other parameters, its driver is unbound and bound, and
# invalid parameters are refused with one line in the kernel log.
. ./lib.sh
MANY=4
! long || MANY=16

devices() { find /sys/class/infiniband -name 'mlx5_*' | wc -l; }
# shellcheck disable=SC2317 # called by ok
reload() { unload_xhca && load xhca "$@"; }

# refuses PARAMETER: the module is not loaded, and a line of the log names the parameter
refuses() {
	dmesg -C
	refused "$1 is refused" '' load xhca "$1"
	is "one line of the log names ${1%=*}" "$(dmesg | grep -c "xhca.*${1%=*}")" 1
}

is "two devices at the beginning" "$(devices)" 2
ok "unload" unload_xhca
is "no device is left" "$(devices)" 0
ok "load again without a function" load xhca functions=0
is "there is no device" "$(devices)" 0
ok "unload it" rmmod xhca
ok "load again with one function" load xhca functions=1
is "one device" "$(devices)" 1
ok "reload with $MANY functions" reload functions=$MANY
is "$MANY devices" "$(devices)" $MANY
is "xhcactl lists them" "$(xhcactl list | grep -c ' mlx5_')" $MANY
ok "xhcactl removes one" xhcactl del 0
is "$((MANY - 1)) devices" "$(devices)" $((MANY - 1))
is "xhcactl does not list it any more" "$(xhcactl list | grep -c ' mlx5_')" $((MANY - 1))
like "its number is used again" '^0$' xhcactl add
is "$MANY devices again" "$(devices)" $MANY
ok "reload with InfiniBand ports" reload functions=2 link=ib
like "the port is InfiniBand" 'link_layer:\s+InfiniBand' ibv_devinfo -d mlx5_0
ok "reload with RoCE ports of a ConnectX-7" reload functions=2 model=cx7
is "both are such" "$(cat /sys/class/infiniband/mlx5_?/hca_type)" MT4129$'\n'MT4129
like "the port is Ethernet" 'link_layer:\s+Ethernet' ibv_devinfo -d mlx5_0
ip link add up0 type veth
ok "reload with an uplink" reload functions=2 uplink=up0
is "the first function has it" "$(xhcactl list | awk '$1 == 0 { print $9 }')" up0
is "the second function has none" "$(xhcactl list | awk '$1 == 1 { print $9 }')" -
ok "the uplink is deleted" ip link delete up0

pci=$(basename "$(readlink -f /sys/class/infiniband/mlx5_0/device)")
ok "unbind mlx5_core" sh -c "echo $pci > /sys/bus/pci/drivers/mlx5_core/unbind"
is "one device less" "$(devices)" 1
ok "bind mlx5_core" sh -c "echo $pci > /sys/bus/pci/drivers/mlx5_core/bind"
is "the device is back" "$(devices)" 2

ok "unload mlx5_ib" rmmod mlx5_ib
ok "unload xhca after it" rmmod xhca
ok "unload mlx5_core at last" rmmod mlx5_core
refuses functions=17
refuses link=token
refuses model=cx4
refuses ports=2
refuses ports=3
refuses uplink=lo
refuses uplink=a/b
refuses bar=0x1000
refuses bar=0x10000000
ok "load the driver once more" modprobe mlx5_ib
ok "load xhca once more" load xhca
is "two devices at the end" "$(devices)" 2
finish
