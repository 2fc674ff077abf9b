// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Creates files from records.  The records come from another host, so lengths and
 * names are checked, and nothing is created outside of the target directory, also
 * not through a symbolic link.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <xxhash.h>
#include "copy.h"

struct open_file {
	int fd;
	char name[4096];
	XXH64_state_t *hash;
};

static void complain(struct writer *w, const char *name)
{
	fprintf(stderr, "xv_copy: %s: %s\n", name, strerror(errno));
	w->end->errors++;
}

/* Opens a path below the target directory, without symbolic links and "..". */
static int open_below(const struct writer *w, const char *path, uint64_t flags)
{
	struct open_how how = {
		.flags = flags | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};

	return (int)syscall(SYS_openat2, w->dir, path, &how, sizeof(how));
}

/* Opens the parent directory of a name; *base is the last component. */
static int open_parent(const struct writer *w, const char *name, const char **base)
{
	const char *slash = strrchr(name, '/');
	char parent[4096];

	*base = slash ? slash + 1 : name;
	if (!**base || !strcmp(*base, ".") || !strcmp(*base, "..")) {
		errno = EINVAL;
		return -1;
	}
	if (!slash)
		return open_below(w, ".", O_PATH | O_DIRECTORY);
	memcpy(parent, name, (size_t)(slash - name));
	parent[slash - name] = 0;
	return open_below(w, parent, O_PATH | O_DIRECTORY);
}

static void set_times(struct writer *w, int dirfd, const char *name, const struct record *rec)
{
	struct timespec times[2] = {
		{ .tv_nsec = UTIME_OMIT },
		{ .tv_sec = rec->mtime, .tv_nsec = rec->mtime_nsec },
	};

	if (name ? utimensat(dirfd, name, times, AT_SYMLINK_NOFOLLOW) : futimens(dirfd, times))
		complain(w, name ? name : "times");
}

static void make_dir(struct writer *w, const char *name)
{
	const char *base;
	int parent = open_parent(w, name, &base);

	/* REC_DIR_END sets the final mode; until then files are created in it. */
	if (parent < 0 || (mkdirat(parent, base, 0700) && errno != EEXIST))
		complain(w, name);
	else
		w->end->stats.dirs++;
	if (parent >= 0)
		close(parent);
}

static void finish_dir(struct writer *w, const char *name, const struct record *rec)
{
	int fd = open_below(w, *name ? name : ".", O_RDONLY | O_DIRECTORY);

	if (fd < 0 || fchmod(fd, rec->mode))
		complain(w, name);
	else
		set_times(w, fd, NULL, rec);
	if (fd >= 0)
		close(fd);
}

static void make_symlink(struct writer *w, const char *name, const struct record *rec,
			 const uint8_t *data)
{
	char target[4096];
	const char *base;
	int parent;

	if (rec->data_len >= sizeof(target)) {
		errno = ENAMETOOLONG;
		complain(w, name);
		return;
	}
	memcpy(target, data, rec->data_len);
	target[rec->data_len] = 0;
	parent = open_parent(w, name, &base);
	if (parent >= 0)
		unlinkat(parent, base, 0);
	if (parent < 0 || symlinkat(target, parent, base)) {
		complain(w, name);
	} else {
		set_times(w, parent, base, rec);
		w->end->stats.symlinks++;
	}
	if (parent >= 0)
		close(parent);
}

static void open_target(struct writer *w, struct open_file *f, const char *name)
{
	const char *base;
	int parent = open_parent(w, name, &base);

	strcpy(f->name, name);
	XXH64_reset(f->hash, 0);
	f->fd = -1;
	if (parent >= 0) {
		unlinkat(parent, base, 0);
		f->fd = openat(parent, base, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			       0600);
		close(parent);
	}
	if (f->fd < 0)
		complain(w, name);
}

static void write_data(struct writer *w, struct open_file *f, const uint8_t *p, uint32_t n)
{
	XXH64_update(f->hash, p, n);
	w->end->stats.bytes += n;
	if (f->fd >= 0 && xt_write(f->fd, p, n)) {
		complain(w, f->name);
		close(f->fd);
		f->fd = -1;
	}
}

static void finish_file(struct writer *w, struct open_file *f, const struct record *rec)
{
	if (XXH64_digest(f->hash) != rec->hash) {
		fprintf(stderr, "xv_copy: %s: checksum differs\n", f->name);
		w->end->mismatches++;
	}
	if (f->fd < 0)
		return;
	if (fchmod(f->fd, rec->mode))
		complain(w, f->name);
	set_times(w, f->fd, NULL, rec);
	if (close(f->fd))
		complain(w, f->name);
	f->fd = -1;
	w->end->stats.files++;
}

static void take_file(struct writer *w, struct open_file *f, const struct record *rec,
		      const char *name, const uint8_t *data)
{
	if (rec->flags & REC_FIRST)
		open_target(w, f, name);
	write_data(w, f, data, rec->data_len);
	if (rec->flags & REC_LAST)
		finish_file(w, f, rec);
}

/* Returns false after the last record or an invalid one. */
static bool take_record(struct writer *w, struct open_file *f, const uint8_t *slot,
			uint32_t length)
{
	struct record rec;
	const uint8_t *data;
	char name[4096];

	memcpy(&rec, slot, sizeof(rec));
	if (length < sizeof(rec) || length > w->end->geo.slot_size || rec.magic != REC_MAGIC ||
	    rec.name_len >= sizeof(name) ||
	    (uint64_t)sizeof(rec) + rec.name_len + rec.data_len != length) {
		fprintf(stderr, "xv_copy: invalid record from the sender\n");
		w->end->errors++;
		return false;
	}
	memcpy(name, slot + sizeof(rec), rec.name_len);
	name[rec.name_len] = 0;
	data = slot + sizeof(rec) + rec.name_len;
	switch (rec.type) {
	case REC_DIR:
		make_dir(w, name);
		return true;
	case REC_DIR_END:
		finish_dir(w, name, &rec);
		return true;
	case REC_FILE:
		take_file(w, f, &rec, name, data);
		return true;
	case REC_SYMLINK:
		make_symlink(w, name, &rec, data);
		return true;
	default:
		return false;
	}
}

void *writer_run(void *arg)
{
	struct writer *w = arg;
	struct end *e = w->end;
	struct open_file f = { .fd = -1, .hash = XXH64_createState() };
	bool more = f.hash;

	while (more) {
		while (__atomic_load_n(&e->filled, __ATOMIC_ACQUIRE) == e->consumed)
			if (!pump_wait(w->pump))
				goto out;
		more = take_record(w, &f, end_slot(e, e->consumed),
				   e->length[e->consumed % e->geo.slots]);
		if (!more)
			__atomic_store_n(&e->writer_done, true, __ATOMIC_RELEASE);
		__atomic_store_n(&e->consumed, e->consumed + 1, __ATOMIC_RELEASE);
	}
out:
	if (f.fd >= 0)
		close(f.fd);
	XXH64_freeState(f.hash);
	return NULL;
}
