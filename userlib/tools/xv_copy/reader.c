// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Creates records from a file tree.
 */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include "copy.h"

/* Waits for a free slot; returns null if the pump has ended. */
static struct record *slot_get(struct reader *r)
{
	struct end *e = r->end;
	struct record *rec;

	for (;;) {
		uint64_t done = __atomic_load_n(&e->completed, __ATOMIC_ACQUIRE);
		uint64_t consumed = e->feedback->consumed;

		if (e->filled - (done < consumed ? done : consumed) < e->geo.slots)
			break;
		if (!pump_wait(r->pump))
			return NULL;
	}
	rec = (struct record *)(void *)end_slot(e, e->filled);
	memset(rec, 0, sizeof(*rec));
	rec->magic = REC_MAGIC;
	return rec;
}

static void slot_put(struct reader *r, const struct record *rec)
{
	struct end *e = r->end;

	e->length[e->filled % e->geo.slots] =
		(uint32_t)sizeof(*rec) + rec->name_len + rec->data_len;
	__atomic_store_n(&e->filled, e->filled + 1, __ATOMIC_RELEASE);
}

static uint8_t *data_of(struct record *rec)
{
	return (uint8_t *)(rec + 1) + rec->name_len;
}

static uint32_t room_of(const struct reader *r, const struct record *rec)
{
	return r->end->geo.slot_size - (uint32_t)sizeof(*rec) - rec->name_len;
}

static void describe(struct record *rec, enum record_type type, const char *name,
		     const struct stat *st)
{
	rec->type = (uint16_t)type;
	rec->name_len = (uint32_t)strlen(name);
	memcpy(rec + 1, name, rec->name_len);
	if (!st)
		return;
	rec->mode = st->st_mode & 07777;
	rec->mtime = st->st_mtim.tv_sec;
	rec->mtime_nsec = (uint32_t)st->st_mtim.tv_nsec;
}

static bool send_simple(struct reader *r, enum record_type type, const char *name,
			const struct stat *st)
{
	struct record *rec = slot_get(r);

	if (!rec)
		return false;
	describe(rec, type, name, st);
	slot_put(r, rec);
	return true;
}

static bool send_symlink(struct reader *r, const char *path, const char *name,
			 const struct stat *st)
{
	struct record *rec = slot_get(r);
	ssize_t n;

	if (!rec)
		return false;
	describe(rec, REC_SYMLINK, name, st);
	n = readlink(path, (char *)data_of(rec), room_of(r, rec));
	if (n < 0)
		xt_die(XT_FAILED, "%s: %s", path, strerror(errno));
	rec->data_len = (uint32_t)n;
	slot_put(r, rec);
	r->end->stats.symlinks++;
	return true;
}

/* Returns less than n only at the end of the file. */
static uint32_t read_data(int fd, const char *path, uint8_t *p, uint32_t n)
{
	ssize_t got = xt_read(fd, p, n);

	if (got < 0)
		xt_die(XT_FAILED, "%s: %s", path, strerror(errno));
	return (uint32_t)got;
}

static bool send_contents(struct reader *r, int fd, const char *path, const char *name,
			  const struct stat *st, XXH64_state_t *hash)
{
	uint64_t left = (uint64_t)st->st_size;
	uint16_t flags = REC_FIRST;
	struct record *rec;
	uint32_t want;

	do {
		rec = slot_get(r);
		if (!rec)
			return false;
		describe(rec, REC_FILE, name, st);
		want = room_of(r, rec) < left ? room_of(r, rec) : (uint32_t)left;
		rec->data_len = read_data(fd, path, data_of(rec), want);
		left = rec->data_len < want ? 0 : left - want;
		XXH64_update(hash, data_of(rec), rec->data_len);
		if (!left)
			flags |= REC_LAST;
		rec->flags = flags;
		rec->hash = XXH64_digest(hash);
		r->end->stats.bytes += rec->data_len;
		flags = 0;
		slot_put(r, rec);
	} while (left);
	r->end->stats.files++;
	return true;
}

static bool send_file(struct reader *r, const char *path, const char *name)
{
	XXH64_state_t *hash = XXH64_createState();
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;
	bool good;

	if (!hash || fd < 0 || fstat(fd, &st))
		xt_die(XT_FAILED, "%s: %s", path, strerror(errno));
	XXH64_reset(hash, 0);
	good = send_contents(r, fd, path, name, &st, hash);
	XXH64_freeState(hash);
	close(fd);
	return good;
}

static bool send_entry(struct reader *r, const FTSENT *ent, const char *name)
{
	switch (ent->fts_info) {
	case FTS_D:
		if (!*name)
			return true;
		r->end->stats.dirs++;
		return send_simple(r, REC_DIR, name, ent->fts_statp);
	case FTS_DP:
		return send_simple(r, REC_DIR_END, name, ent->fts_statp);
	case FTS_F:
		return send_file(r, ent->fts_accpath, name);
	case FTS_SL:
	case FTS_SLNONE:
		return send_symlink(r, ent->fts_accpath, name, ent->fts_statp);
	case FTS_DNR:
	case FTS_ERR:
	case FTS_NS:
		xt_die(XT_FAILED, "%s: %s", ent->fts_path, strerror(ent->fts_errno));
	default:
		fprintf(stderr, "xv_copy: %s: not a file, directory or symbolic link, skipped\n",
			ent->fts_path);
		r->end->stats.skipped++;
		return true;
	}
}

/* Path relative to the source; if the source is a file, its name */
static const char *name_below(const FTSENT *ent, size_t root_len)
{
	const char *name = ent->fts_path + root_len;

	if (ent->fts_level == FTS_ROOTLEVEL)
		return ent->fts_info == FTS_D || ent->fts_info == FTS_DP ? "" : ent->fts_name;
	while (*name == '/')
		name++;
	return name;
}

void *reader_run(void *arg)
{
	struct reader *r = arg;
	char *roots[] = { strdup(r->source), NULL };
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	bool good = true;
	FTSENT *ent;

	if (!tree)
		xt_die(XT_FAILED, "%s: %s", r->source, strerror(errno));
	while (good && (ent = fts_read(tree)))
		good = send_entry(r, ent, name_below(ent, strlen(roots[0])));
	fts_close(tree);
	free(roots[0]);
	if (good)
		send_simple(r, REC_DONE, "", NULL);
	return NULL;
}
