#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The product after make install and DKMS: modprobe, the udev rule, tools in the path,
# pkg-config, manual pages, and a user of the group rdma.
. ./lib.sh

as_user() { runuser -u tester -- "$@"; }

# shellcheck disable=SC2317 # called by ok
reload() { rmmod xverbs && unload_xhca && modprobe xhca functions=2 && modprobe xverbs; }

for m in xhca xverbs; do
	is "$m was installed by DKMS" "$(modinfo -n $m | sed s,.xz$,,)" \
		"/lib/modules/$(uname -r)/updates/dkms/$m.ko"
	is "$m was built for this kernel" "$(modinfo -F vermagic $m | cut -d' ' -f1)" "$(uname -r)"
done
ok "the modules unload, and load by name" reload
ok "udev starts" /lib/systemd/systemd-udevd --daemon
ok "udev applies the rules" udevadm trigger --settle --action=add \
	--subsystem-match=misc --subsystem-match=xverbs
is "the nodes have the group and mode of the rule" \
	"$(stat -c '%G %a' /dev/xverbs /dev/infiniband/xverbs* | uniq)" "rdma 666"
ok "udev ends" udev_stop
ok "a user in group rdma" useradd --groups rdma tester
like "xv_devinfo is in the path" "^$DEV0:" as_user xv_devinfo
ports_up
like "xv_perf measures" '^ +64 ' as_user xv_perf --device "$DEV0" --peer-device "$DEV1" \
	-n 1000 lat write
like "pkg-config knows the library" '-lxverbs' pkg-config --libs libxverbs
like "pkg-config knows the library of collective operations" '-lxvcoll.*-lxverbs' \
	pkg-config --libs libxvcoll
like "pkg-config knows the library for librdmacm" '-lxvcm.*-lxverbs.*-lrdmacm' \
	pkg-config --libs libxvcm
like "pkg-config knows the library for programs of libibverbs" '-lxverbs-ibverbs -libverbs' \
	pkg-config --libs libxverbs-ibverbs
like "and the library of experimental verbs" '-lxverbs-exp -lxverbs-ibverbs -libverbs' \
	pkg-config --libs xverbs-exp
ok "the header of experimental verbs is where pkg-config says" \
	ls "$(pkg-config --variable=includedir xverbs-exp)/xverbs-exp/infiniband/verbs_exp.h"
# A program for DOCA is built with one line of pkg-config, as README shows.
# shellcheck disable=SC2317 # called by ok
doca_program() {
	local where
	where=$(pkg-config --variable=libdir libxverbs)/xverbs-doca/pkgconfig
	# shellcheck disable=SC2046 # a list of flags
	gcc -I../.. -o "$OUT.doca" ../../doca/devices.c \
		$(PKG_CONFIG_PATH=$where pkg-config --cflags --libs doca-common) &&
		as_user "$OUT.doca"
}
ok "a program for DOCA is compiled and runs" doca_program
refused "the default path of pkg-config has no DOCA" 'doca-common' pkg-config --libs doca-common
like "xv_run is in the path" "hca_id:	$DEV0" as_user xv_run ibv_devinfo
like "xv_hwtest is in the path, and finds no difference" 'xv_hwtest: no difference' \
	xv_hwtest --steps facts,rc_pingpong,ops,codes --output "$OUT.hw" "$DEV0" "$DEV1"
# A kernel whose RDMA drivers were replaced. DKMS looks for headers first, and these are enough.
# shellcheck disable=SC2317 # called by refused
other_drivers() {
	local sources=(/usr/src/xverbs-*) dkms
	dkms=("xverbs/${sources[0]##*-}" -k other --dkmstree "$OUT.dkms"
		--kernelsourcedir "$OUT.dkms")
	mkdir -p /lib/modules/other/updates/dkms "$OUT.dkms/include"
	touch /lib/modules/other/updates/dkms/mlx5_core.ko.xz
	dkms add "${dkms[@]}" && dkms build "${dkms[@]}"
}
refused "DKMS does not build for the drivers of others" \
	'the RDMA drivers of kernel other are those of MLNX_OFED' other_drivers
# shellcheck disable=SC2317 # called by ok
first_example() {
	cp -r /usr/share/doc/xverbs/examples "$OUT.examples" && make -C "$OUT.examples" first &&
		as_user "$OUT.examples/first"
}
ok "an installed example is compiled and runs" first_example
# shellcheck disable=SC2317 # called by ok
doca_example() {
	local where dir=$OUT.examples/$2
	where=$(pkg-config --variable=libdir libxverbs)/$1/pkgconfig
	PKG_CONFIG_PATH=$where make -C "$dir" "$3" && as_user "$dir/$3" -h
}
ok "an installed example of RDMA jobs is compiled and runs" \
	doca_example xverbs-doca-2 doca_jobs rdma_send
ok "one of RDMA tasks, too" doca_example xverbs-doca doca_rdma rdma_send
ok "and one of DOCA Verbs" doca_example xverbs-doca doca_verbs verbs_wait_cq
ok "manual pages of each section are installed" ls /usr/share/man/man1/xv_perf.1 \
	/usr/share/man/man3/xv_create_qp.3 /usr/share/man/man7/xverbs.7 \
	/usr/share/man/man8/xhcactl.8
like "a function without a page of its own has a link" 'so man3/xv_create_qp.3' \
	cat /usr/share/man/man3/xv_destroy_qp.3
like "an experimental verb, too" 'so man7/xverbs-exp.7' \
	cat /usr/share/man/man3/ibv_exp_create_qp.3
finish
