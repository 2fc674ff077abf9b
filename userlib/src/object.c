// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Objects of a context.  Each object has a hidden header before its public
 * structure.  xv_close() uses it to find and release all objects.
 */
#include <unistd.h>
#include "internal.h"

struct object {
	struct object *next;
	struct object **link;		/* the pointer to this object; NULL: not in the list */
	struct context *ctx;
	xv_release_fn release;
	uint32_t handle;
} __attribute__((aligned(64)));		/* alignment of struct xv_qp */

static struct object *header(void *object)
{
	return (struct object *)object - 1;
}

void *xv_object_alloc(struct context *ctx, size_t size, xv_release_fn release, const char *verb)
{
	struct object *o = NULL;

	if (posix_memalign((void **)&o, sizeof(*o), sizeof(*o) + size))
		return xv_set_error_null(ENOMEM, "%s: out of memory", verb);
	memset(o, 0, sizeof(*o) + size);
	o->ctx = ctx;
	o->release = release;
	return o + 1;
}

void xv_object_add(void *object, uint32_t handle)
{
	struct object *o = header(object);
	struct context *ctx = o->ctx;

	o->handle = handle;
	pthread_mutex_lock(&ctx->lock);
	o->next = ctx->objects;
	o->link = &ctx->objects;
	if (o->next)
		o->next->link = &o->next;
	ctx->objects = o;
	pthread_mutex_unlock(&ctx->lock);
}

static void unlink_object(struct object *o)
{
	pthread_mutex_lock(&o->ctx->lock);
	if (o->link) {
		*o->link = o->next;
		if (o->next)
			o->next->link = o->link;
	}
	pthread_mutex_unlock(&o->ctx->lock);
}

int xv_check_used(const struct context *ctx, const char *verb, const void *const *objects,
		  size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (objects[i] && ((const struct object *)objects[i] - 1)->ctx != ctx)
			return xv_set_error(EINVAL, "%s: an object belongs to another context",
					    verb);
	return 0;
}

void xv_object_free(void *object)
{
	struct object *o = header(object);

	unlink_object(o);
	if (o->release)
		o->release(object);
	free(o);
}

int xv_destroy_handle(struct context *ctx, uint32_t handle, const char *verb,
		      struct xverbs_destroy *reply)
{
	struct xverbs_destroy req = { .handle = handle };
	struct error_state before;
	int err;

	xv_error_save(&before);
	err = xv_ioctl(&ctx->pub, XVERBS_DESTROY, verb, &req, sizeof(req));
	if (reply)
		*reply = req;
	if (err != -ENODEV)
		return err;
	xv_error_restore(&before);
	xv_readers_wait(ctx);
	return 0;
}

int xv_object_destroy_kernel(void *object, const char *verb, struct xverbs_destroy *reply)
{
	struct object *o = header(object);

	return o->handle ? xv_destroy_handle(o->ctx, o->handle, verb, reply) : 0;
}

int xv_object_destroy(void *object, const char *verb)
{
	int err = xv_object_destroy_kernel(object, verb, NULL);

	if (!err)
		xv_object_free(object);
	return err;
}

/* Destroys every object that the kernel can destroy; returns true if there was one. */
static bool destroy_some(struct context *ctx)
{
	struct object *o, *next;
	bool progress = false;

	for (o = ctx->objects; o; o = next) {
		next = o->next;
		if (!xv_object_destroy(o + 1, "close"))
			progress = true;
	}
	return progress;
}

/*
 * Destroys the newest object first, because an object uses older ones.  A memory
 * region that was moved to a newer PD needs a second pass.  The objects of the kernel
 * are destroyed here, because a child process may keep the file open.  A child must
 * not destroy the objects of its parent.
 */
void xv_object_destroy_all(struct context *ctx)
{
	while (ctx->owner == getpid() && destroy_some(ctx))
		;
	while (ctx->objects)
		xv_object_free(ctx->objects + 1);
}

void *xv_object_create(struct xv_context *ctx, unsigned long request, const char *verb, void *req,
		       uint32_t req_size, size_t size, xv_release_fn release)
{
	void *object = xv_object_alloc(to_ctx(ctx), size, release, verb);
	int err;

	if (!object)
		return NULL;
	err = xv_ioctl(ctx, request, verb, req, req_size);
	if (err) {
		free(header(object));
		errno = -err;
		return NULL;
	}
	return object;
}
