// SPDX-License-Identifier: GPL-2.0
/*
 * The adapter (hca/) as one translation unit, as kernel/sched/build_policy.c does it for the
 * scheduler.  The compiler can then inline a function of another file, which saves an eighth of
 * the time of a request, and the headers are compiled only once.
 *
 * The files also compile one by one, for tests/host, so functions that they share are not static.
 * -fwhole-program makes all of them static here, but those that other files of xhca call: these
 * are __visible in hca.h.  A file removes its macros at its end (tests/check macros).
 *
 * The files are in the order of the layers: each calls only files above it (tests/check cycles).
 */
#include "hca/base/layout.c"
#include "hca/base/heap.c"
#include "hca/base/table.c"
#include "hca/base/softfloat.c"
#include "hca/base/clock.c"
#include "hca/base/share.c"
#include "hca/base/devx.c"
#include "hca/base/umem.c"
#include "hca/base/buf.c"
#include "hca/base/uar.c"

#include "hca/wire/icrc.c"
#include "hca/wire/packet.c"

#include "hca/sa/sa_match.c"
#include "hca/sa/sa_record.c"
#include "hca/sa/sa_group.c"
#include "hca/sa/pma.c"
#include "hca/sa/sma.c"
#include "hca/sa/sa.c"

#include "hca/data/path.c"
#include "hca/data/key.c"
#include "hca/data/calc.c"
#include "hca/data/copy_bytes.c"
#include "hca/data/copy.c"
#include "hca/data/atomic.c"
#include "hca/data/wqe.c"
#include "hca/data/count.c"
#include "hca/data/eq.c"
#include "hca/data/fail.c"
#include "hca/data/mcg.c"
#include "hca/data/mkey.c"
#include "hca/data/route.c"
#include "hca/data/apm.c"
#include "hca/data/peer.c"
#include "hca/data/record.c"
#include "hca/data/wait.c"
#include "hca/data/cqe.c"
#include "hca/data/complete.c"
#include "hca/data/rq.c"
#include "hca/data/dci.c"
#include "hca/data/wire_send.c"
#include "hca/data/umr.c"
#include "hca/data/ud_long.c"
#include "hca/data/ud.c"
#include "hca/data/xchan.c"
#include "hca/data/responder.c"
#include "hca/data/wire_responder.c"
#include "hca/data/wire_requester.c"
#include "hca/data/requester.c"
#include "hca/data/qp_enter.c"
#include "hca/data/turn.c"
#include "hca/data/wire_receive.c"

#include "hca/cmd/pd.c"
#include "hca/cmd/caps.c"
#include "hca/cmd/reg.c"
#include "hca/cmd/counter.c"
#include "hca/cmd/roce.c"
#include "hca/cmd/vport.c"
#include "hca/cmd/cq.c"
#include "hca/cmd/srq.c"
#include "hca/cmd/qp_state.c"
#include "hca/cmd/qp.c"
#include "hca/cmd/sq.c"
#include "hca/cmd/dct.c"
#include "hca/cmd/hca.c"
#include "hca/cmd/start.c"
#include "hca/cmd/cmd_table.c"
#include "hca/cmd/cmd.c"

#include "hca/sweep.c"
#include "hca/doorbell.c"
#include "hca/run.c"
#include "hca/fabric.c"
