# SPDX-License-Identifier: GPL-2.0
#
# `make help` lists the targets. Kernel modules are built in build/RELEASE, which
# contains links to the sources: builds for several kernels exist side by side, and
# the source tree stays clean.

VERSION := $(shell sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
DESTDIR ?=
TOP := $(CURDIR)
export PREFIX DESTDIR

# The software adapter makes a PCI bus of the x86 kind; other machines get xverbs.ko only.
MODULES := xverbs
ifneq ($(filter x86 x86_64,$(or $(ARCH),$(shell uname -m))),)
MODULES += xhca
endif

# The kernel to build for: the tree KDIR, or Debian's kernel KERNEL, which is fetched if
# it is not in the cache, or the running kernel. Other targets do not look for a kernel.
ifneq ($(filter all modules modules-%,$(or $(MAKECMDGOALS),all)),)
ifeq ($(KDIR),)
ifneq ($(KERNEL),)
KDIR := $(addsuffix /kdir,$(shell tests/kernel/get $(KERNEL)))
ifeq ($(KDIR),)
$(error cannot get kernel $(KERNEL))
endif
else
KDIR := /lib/modules/$(shell uname -r)/build
ifeq ($(wildcard $(KDIR)/Makefile),)
$(info The headers of the running kernel are not installed, and make downloads nothing by)
$(info itself. Choose one of these:)
$(info -   Debian, Ubuntu: apt-get install linux-headers-$(shell uname -r))
$(info -   Fedora, RHEL: dnf install kernel-devel-$(shell uname -r))
$(info -   make KERNEL=6.1           on Debian: fetches its kernel 6.1 (70 MB) to ~/.cache/xverbs)
$(info -   make KDIR=/path/to/tree   uses a kernel tree that is prepared for modules)
$(info -   make userlib              builds only the library and the tools)
$(error no kernel to build modules for)
endif
endif
endif
RELEASE := $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' $(KDIR)/include/generated/utsrelease.h)
ifeq ($(RELEASE),)
$(error $(KDIR) is not a kernel tree that is prepared for modules)
endif
BUILD := $(TOP)/build/$(RELEASE)
endif

all: modules userlib

modules: $(addprefix modules-,$(MODULES))

# A module is built again if a source file, a shared header or the kernel changed.
define module
modules-$(1): $(BUILD)/kmod/$(1)/$(1).ko

$(BUILD)/kmod/$(1)/$(1).ko: $(shell find kmod/$(1) uapi -name '*.[chS]' -o -name Kbuild) \
		$(KDIR)/Module.symvers
	@kmod/check-drivers $(RELEASE)
	@mkdir -p $(BUILD)
	+@flock $(BUILD)/.lock-$(1) kmod/build $(KDIR) $(BUILD) $(1) -j$(JOBS)
endef
ifneq ($(BUILD),)
$(foreach m,$(MODULES),$(eval $(call module,$(m))))
endif

userlib:
	$(MAKE) -C userlib

demo:
	tests/demo

test:
	@tests/packages run || { echo '0 passed, 1 failed, 0 skipped'; exit 1; }
	@tests/run

# The fuzzers of the host, that of xv_rsh, then that of the device. SEED repeats a run of the
# last two.
fuzz: TIME ?= 60
fuzz:
	@tests/packages build host vm
	@$(MAKE) -s -j4 -C tests/host fuzz
	@$(MAKE) -s userlib
	@$(MAKE) -s -C tests/user
	@build/user/tests/rsh_fuzz $(TIME) $(or $(SEED),$$(date +%s))
	@tests/vm/run --kernel $(or $(KERNEL),debug) --timeout $$((4 * $(TIME) + 1200)) -- \
		env SEED=$(SEED) FUZZ_TIME=$(TIME) \
		tests/vm/suites/batch fuzz:$$((4 * $(TIME) + 900))

bench:
	@tests/packages build vm bench
	tests/bench/run

# Compares an adapter of this host with what its model expects: xv_hwtest(1).
hwtest:
	@[ -n "$(DEVICE)" ] || { echo 'usage: make hwtest DEVICE=mlx5_0 [PEER=mlx5_1|HOST]' \
		'[HWTEST="--probe --dry-run ..."]'; exit 2; }
	@$(MAKE) -s userlib
	@$(MAKE) -s -C tests/hw programs
	@tests/hw/xv_hwtest $(HWTEST) $(DEVICE) $(PEER)

check:
	tests/check

install: userlib install-dkms
	$(MAKE) -C userlib install

# xv_hwtest and what it runs
install-tests: userlib
	$(MAKE) -C tests/hw install

# Copies the sources to where DKMS looks for them. DKMS builds for each kernel of the host.
install-dkms: SRC = $(DESTDIR)/usr/src/xverbs-$(VERSION)
install-dkms:
	rm -rf $(SRC)
	install -d $(SRC)
	cp -r Kbuild LICENSE dkms.conf kmod uapi $(SRC)/
	@[ -n "$(DESTDIR)" ] || kmod/dkms-install $(VERSION)

# Debian packages, in build/deb. dpkg wants debian/ at the top of the sources.
deb: SRC = build/deb/xverbs-$(VERSION)
deb:
	@tests/packages build deb
	rm -rf build/deb
	install -d $(SRC)
	cp -r Kbuild LICENSE Makefile README.md dkms.conf kmod uapi userlib $(SRC)/
	install -d $(SRC)/tests
	cp -r tests/bench tests/hw tests/stock tests/user tests/*.h $(SRC)/tests/
	mv $(SRC)/userlib/debian $(SRC)/
	cd $(SRC) && dpkg-buildpackage -b -us -uc
	lintian --fail-on error,warning build/deb/*.changes

clean:
	rm -rf build
	@[ ! -e userlib/Makefile ] || $(MAKE) -C userlib clean
	@[ ! -e tests/host/Makefile ] || $(MAKE) -C tests/host clean

help:
	@echo 'make [all]      modules and userlib'
	@echo 'make modules    xverbs.ko and xhca.ko (x86-64 only) in build/RELEASE/kmod, for the'
	@echo '                running kernel, or for KERNEL=5.10|6.1|6.12|newest|testing|debug'
	@echo '                (fetched from Debian), or for the kernel tree KDIR=...'
	@echo 'make userlib    libxverbs, tools and examples'
	@echo 'make demo       builds, boots a VM and copies files between two functions'
	@echo 'make test       all test layers, short form; FULL=1 runs everything'
	@echo 'make fuzz       the fuzzers alone, each for TIME=60 seconds, with coverage; those of'
	@echo '                xv_rsh and the device with SEED=..., the latter with KERNEL=debug'
	@echo 'make bench      xhca against rdma_rxe, libxverbs against libibverbs'
	@echo 'make hwtest     compares an adapter of this host with what its model expects:'
	@echo '                DEVICE=mlx5_0 [PEER=mlx5_1|HOST] [HWTEST=--probe]'
	@echo 'make check      W=1, sparse, checkpatch, shellcheck, cppcheck, uAPI layout'
	@echo 'make install    libxverbs and tools (PREFIX, DESTDIR), modules by DKMS'
	@echo 'make install-tests  xv_hwtest, which make hwtest runs'
	@echo 'make deb        Debian packages in build/deb'
	@echo 'make clean      removes everything that make built here; kernels stay in the cache'

.PHONY: all modules userlib demo test fuzz bench hwtest check install install-dkms install-tests
.PHONY: deb clean help
.PHONY: $(addprefix modules-,$(MODULES))
