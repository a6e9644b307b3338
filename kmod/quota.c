// SPDX-License-Identifier: GPL-2.0
/* Limits the memory of each user's open files. It is charged before it is allocated. */
#include <linux/cred.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/uidgid.h>
#include "module.h"

struct quota {
	struct list_head link;
	kuid_t user;
	u32 files;
	size_t bytes;
};

/* For users that have a file open. */
static LIST_HEAD(quotas);
static DEFINE_MUTEX(lock);

static struct quota *quota_of(kuid_t user)
{
	struct quota *q;

	list_for_each_entry(q, &quotas, link) if (uid_eq(q->user, user)) return q;
	return NULL;
}

struct quota *quota_open(void)
{
	struct quota *q;

	mutex_lock(&lock);
	q = quota_of(current_uid());
	if (!q) {
		q = kzalloc(sizeof(*q), GFP_KERNEL_ACCOUNT);
		if (q) {
			q->user = current_uid();
			list_add(&q->link, &quotas);
		}
	}
	if (q)
		q->files++;
	mutex_unlock(&lock);
	return q;
}

void quota_close(struct quota *q)
{
	mutex_lock(&lock);
	if (!--q->files) {
		WARN_ON(q->bytes);
		list_del(&q->link);
		kfree(q);
	}
	mutex_unlock(&lock);
}

int quota_charge(struct quota *q, size_t bytes)
{
	int ret = -EDQUOT;

	mutex_lock(&lock);
	if (bytes <= TARE_MSR_USER_BYTES - q->bytes) {
		q->bytes += bytes;
		ret = 0;
	}
	mutex_unlock(&lock);
	return ret;
}

void quota_discharge(struct quota *q, size_t bytes)
{
	mutex_lock(&lock);
	q->bytes -= bytes;
	mutex_unlock(&lock);
}
