// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/tare_msr: batches of reads and writes of model-specific registers, checked against a list
 * with a bit mask for each. The first file that writes reserves the counters, against perf and
 * against other files, until it is closed; then every register is restored. Uses no interrupt and
 * does not change CR4.
 */
#define pr_fmt(fmt) "tare_msr: " fmt
#include <linux/capability.h>
#include <linux/cpu.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/pid.h>
#include <linux/reboot.h>
#include <linux/sched.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/suspend.h>
#include <linux/uaccess.h>
#include "module.h"

struct file_state {
	bool reserved; /* the counters are reserved in the kernel */
	struct quota *quota;
	struct pid *pid; /* of the process that became the holder */
	char name[TASK_COMM_LEN];
	/*
	 * of the last batch that was not kept: allocating a new one costs more than all its checks
	 */
	struct batch *spare;
	cpumask_var_t lost;       /* CPUs on which its writes were undone */
	struct cpu_saved **saved; /* by CPU; only the holder's */
	struct xarray prepared;
	/* read-locked while one of them runs, write-locked to drop one */
	struct rw_semaphore using;
};

/*
 * Read-locked while a batch runs, write-locked to change the holder of the counters or to restore
 * registers. Taken after cpus_read_lock(), as hotplug calls us with that write-locked.
 */
static DECLARE_RWSEM(machine);
static struct file_state *holder;
static bool asleep;

/* ---- taking back ---- */

static void restore_all(struct file_state *f, bool lost)
{
	int cpu;

	for_each_online_cpu(cpu)
	{
		struct cpu_saved *s = f->saved[cpu];

		if (!s || !s->n)
			continue;
		saved_restore(cpu, s);
		if (lost)
			cpumask_set_cpu(cpu, f->lost);
	}
}

/* Called on the CPU that goes offline. */
static int cpu_goes(unsigned int cpu)
{
	down_write(&machine);
	if (holder && holder->saved[cpu] && holder->saved[cpu]->n) {
		saved_restore_here(holder->saved[cpu]);
		cpumask_set_cpu(cpu, holder->lost);
	}
	up_write(&machine);
	return 0;
}

static void machine_goes(bool goes)
{
	cpus_read_lock();
	down_write(&machine);
	asleep = goes;
	if (goes && holder)
		restore_all(holder, true);
	up_write(&machine);
	cpus_read_unlock();
}

static int machine_sleeps(struct notifier_block *self, unsigned long what, void *data)
{
	machine_goes(what == PM_SUSPEND_PREPARE || what == PM_HIBERNATION_PREPARE ||
		     what == PM_RESTORE_PREPARE);
	return NOTIFY_DONE;
}

/*
 * Restart, power off, halt, and kexec (the next kernel inherits the registers). Not called for a
 * crash or an emergency restart.
 */
static int machine_restarts(struct notifier_block *self, unsigned long what, void *data)
{
	machine_goes(true);
	return NOTIFY_DONE;
}

/* ---- a batch from user space ---- */

static int check(struct batch *b, u32 i)
{
	const struct tare_msr_op *o = &b->op[i];
	const struct row *row;
	u32 slot;
	int at;

	if (o->err)
		return -EINVAL;
	switch (o->kind) {
	case TARE_MSR_TSC:
		return o->msr ? -EINVAL : 0;
	case TARE_MSR_RDPMC:
		/* reading a counter that this CPU lacks faults, which is handled */
		return table_rdpmc(o->msr) ? 0 : -EPERM;
	case TARE_MSR_READ:
	case TARE_MSR_WRITE:
		break;
	default:
		return -EINVAL;
	}
	at = table_find(o->msr, &slot);
	if (at < 0)
		return -EPERM;
	row = &table_rows[at];
	b->found[i].row = at;
	b->found[i].slot = slot;
	if (o->kind == TARE_MSR_READ)
		return row->read ? 0 : -EPERM;
	if (!row->write)
		return -EPERM;
	if (o->value & ~row->write)
		return -EINVAL;
	if (row->flags & TARE_MSR_SIGNED && o->value != MSR_SIGNED_32(o->value))
		return -EINVAL;
	b->writes = true;
	b->pmu |= row->flags & TARE_MSR_PMU;
	return 0;
}

/*
 * Operations are copied by words of 8 bytes. A copy by rep movsb, which the kernel's own functions
 * use, is as fast with suitable microcode, and byte by byte in an emulated machine.
 */
enum { WORDS = sizeof(struct tare_msr_op) / sizeof(u64) };

static int put_ops(const struct tare_msr_batch *head, const struct batch *b)
{
	u64 __user *to = u64_to_user_ptr(head->ops);
	const u64 *from = (const u64 *)b->op;

	if (!user_access_begin(to, b->n * sizeof(b->op[0])))
		return -EFAULT;
	for (u32 i = 0; i < b->n * WORDS; i++)
		unsafe_put_user(from[i], to + i, fault);
	user_access_end();
	return 0;
fault:
	user_access_end();
	return -EFAULT;
}

static int get_ops(const struct tare_msr_batch *head, struct batch *b)
{
	const u64 __user *from = u64_to_user_ptr(head->ops);
	u64 *to = (u64 *)b->op;

	if (!user_access_begin(from, b->n * sizeof(b->op[0])))
		return -EFAULT;
	for (u32 i = 0; i < b->n * WORDS; i++)
		unsafe_get_user(to[i], from + i, fault);
	user_access_end();
	return 0;
fault:
	user_access_end();
	return -EFAULT;
}

/* May return memory with old contents; found[] and op[] are set together with the operations. */
static struct batch *fresh_batch(struct file_state *f)
{
	struct batch *b = xchg(&f->spare, NULL);

	if (!b)
		b = kmalloc(sizeof(*b), GFP_KERNEL_ACCOUNT);
	if (!b)
		return NULL;
	mutex_init(&b->lock);
	b->writes = false;
	b->pmu = false;
	b->saved = NULL;
	return b;
}

static void put_away(struct file_state *f, struct batch *b)
{
	kfree(xchg(&f->spare, b));
}

/* -EACCES: refused, with the reasons in the caller's operations. */
static int get_batch(struct file_state *f, struct batch **out, const struct tare_msr_batch *head,
		     bool may_write)
{
	bool refused = false;
	struct batch *b;
	int ret;

	if (!head->n || head->n > TARE_MSR_OPS_MAX || head->flags & ~TARE_MSR_KEEP_GOING)
		return -EINVAL;
	b = fresh_batch(f);
	if (!b)
		return -ENOMEM;
	b->cpu = head->cpu;
	b->n = head->n;
	b->flags = head->flags;
	ret = get_ops(head, b);
	for (u32 i = 0; !ret && i < b->n; i++) {
		b->op[i].err = check(b, i);
		refused |= b->op[i].err != 0;
	}
	if (refused)
		ret = put_ops(head, b) ?: -EACCES;
	if (!ret && b->writes && !may_write)
		ret = -EBADF;
	if (ret)
		put_away(f, b);
	else
		*out = b;
	return ret;
}

/* ---- running it ---- */

/* Needs `machine` write-locked. */
static int become_holder(struct file_state *f, bool pmu)
{
	struct cpu_saved **saved = f->saved;
	int ret;

	if (holder && holder != f)
		return -EBUSY;
	if (!saved)
		saved = kcalloc(nr_cpu_ids, sizeof(*saved), GFP_KERNEL_ACCOUNT);
	if (!saved)
		return -ENOMEM;
	if (pmu && !f->reserved) {
		ret = counters_reserve();
		if (ret) {
			if (saved != f->saved)
				kfree(saved);
			return ret;
		}
		f->reserved = true;
	}
	f->saved = saved;
	holder = f;
	put_pid(f->pid);
	f->pid = get_pid(task_tgid(current));
	get_task_comm(f->name, current);
	return 0;
}

/* Needs `machine` locked: may this batch run on that CPU now? Reads `saved` for the CPU. */
static int may_run(struct file_state *f, struct batch *b)
{
	if (b->cpu >= nr_cpu_ids)
		return -ENXIO;
	b->cpu = array_index_nospec(b->cpu, nr_cpu_ids);
	if (!cpu_online(b->cpu))
		return -ENXIO;
	if (cpumask_test_cpu(b->cpu, f->lost))
		return -ESTALE;
	if (b->writes && asleep)
		return -EAGAIN;
	return 0;
}

static int saved_for(struct file_state *f, struct batch *b)
{
	struct cpu_saved *fresh;

	if (!f->saved[b->cpu]) {
		fresh = kzalloc(sizeof(*fresh), GFP_KERNEL_ACCOUNT);
		if (!fresh)
			return -ENOMEM;
		fresh->all = f->saved;
		if (cmpxchg(&f->saved[b->cpu], NULL, fresh))
			kfree(fresh);
	}
	b->saved = f->saved[b->cpu];
	return 0;
}

static void run_call(void *b)
{
	batch_run(b);
}

static int run_user_batch(struct file_state *f, struct batch *b)
{
	int ret = security_locked_down(LOCKDOWN_MSR);

	if (ret)
		return ret;
	cpus_read_lock();
	down_read(&machine);
	ret = may_run(f, b);
	if (!ret && b->writes && (holder != f || (b->pmu && !f->reserved))) {
		up_read(&machine);
		down_write(&machine);
		ret = may_run(f, b);
		if (!ret)
			ret = become_holder(f, b->pmu);
		downgrade_write(&machine);
	}
	if (!ret && b->writes)
		ret = saved_for(f, b);
	if (!ret)
		ret = smp_call_function_single(b->cpu, run_call, b, 1);
	up_read(&machine);
	cpus_read_unlock();
	if (!ret && b->done < b->n)
		ret = -EIO;
	return ret;
}

static int run_and_tell(struct file_state *f, struct tare_msr_batch *head, struct batch *b)
{
	int ret = run_user_batch(f, b);

	if (ret && ret != -EIO)
		return ret;
	head->done = b->done;
	head->tsc_first = b->tsc_first;
	head->tsc_last = b->tsc_last;
	return put_ops(head, b) ?: ret;
}

/* ---- the five calls ---- */

static int call_run(struct file_state *f, struct tare_msr_batch *head, bool may_write)
{
	struct batch *b;
	int ret;

	if (head->handle)
		return -EINVAL;
	ret = get_batch(f, &b, head, may_write);
	if (ret)
		return ret;
	ret = run_and_tell(f, head, b);
	put_away(f, b);
	return ret;
}

static int call_prepare(struct file_state *f, struct tare_msr_batch *head, bool may_write)
{
	struct batch *b;
	int ret;

	if (head->handle)
		return -EINVAL;
	ret = quota_charge(f->quota, sizeof(*b));
	if (ret)
		return ret;
	ret = get_batch(f, &b, head, may_write);
	if (ret)
		goto refused;
	ret = xa_alloc(&f->prepared, &head->handle, b, XA_LIMIT(1, TARE_MSR_PREPARED_MAX),
		       GFP_KERNEL_ACCOUNT);
	if (ret) {
		kfree(b);
		goto refused;
	}
	return 0;
refused:
	quota_discharge(f->quota, sizeof(*b));
	return ret == -EBUSY ? -ENOSPC : ret;
}

static int call_repeat(struct file_state *f, struct tare_msr_batch *head)
{
	struct batch *b;
	int ret = -ENOENT;

	down_read(&f->using);
	b = xa_load(&f->prepared, head->handle);
	if (b && (head->n != b->n || head->cpu != b->cpu || head->flags != b->flags)) {
		ret = -EINVAL;
	} else if (b) {
		mutex_lock(&b->lock);
		ret = run_and_tell(f, head, b);
		mutex_unlock(&b->lock);
	}
	up_read(&f->using);
	return ret;
}

static int call_drop(struct file_state *f, struct tare_msr_batch *head)
{
	struct batch *b;

	down_write(&f->using);
	b = xa_erase(&f->prepared, head->handle);
	up_write(&f->using);
	if (!b)
		return -ENOENT;
	kfree(b);
	quota_discharge(f->quota, sizeof(*b));
	return 0;
}

static int call_info(struct tare_msr_info __user *to)
{
	struct tare_msr_info info = { .version = TARE_MSR_VERSION, .maker = table_maker };

	down_read(&machine);
	if (holder) {
		info.held = 1;
		/* If the process has ended, its number may be reused. */
		if (pid_has_task(holder->pid, PIDTYPE_TGID))
			info.holder_pid = pid_vnr(holder->pid);
		strscpy(info.holder, holder->name, sizeof(info.holder));
	}
	up_read(&machine);
	return copy_to_user(to, &info, sizeof(info)) ? -EFAULT : 0;
}

static long file_call(struct file *file, unsigned int call, unsigned long arg)
{
	struct tare_msr_batch __user *at = (void __user *)arg;
	struct file_state *f = file->private_data;
	bool may_write = file->f_mode & FMODE_WRITE;
	struct tare_msr_batch head;
	int ret;

	switch (call) {
	case TARE_MSR_INFO:
		return call_info((void __user *)arg);
	case TARE_MSR_RUN:
	case TARE_MSR_PREPARE:
	case TARE_MSR_REPEAT:
	case TARE_MSR_DROP:
		break;
	default:
		return -ENOTTY;
	}
	if (copy_from_user(&head, at, sizeof(head)))
		return -EFAULT;
	if (head.version != TARE_MSR_VERSION)
		return -EPROTO;
	head.done = 0;
	if (call == TARE_MSR_RUN)
		ret = call_run(f, &head, may_write);
	else if (call == TARE_MSR_PREPARE)
		ret = call_prepare(f, &head, may_write);
	else if (call == TARE_MSR_REPEAT)
		ret = call_repeat(f, &head);
	else
		ret = call_drop(f, &head);
	if (copy_to_user(at, &head, sizeof(head)))
		return -EFAULT;
	return ret;
}

/*
 * Memory of a file without prepared batches. Excludes the registers saved for the holder: there is
 * at most one.
 */
static size_t file_bytes(void)
{
	return sizeof(struct file_state) + cpumask_size() + sizeof(struct batch);
}

static void file_free(struct file_state *f)
{
	struct batch *b;
	unsigned long handle;

	xa_for_each(&f->prepared, handle, b)
	{
		kfree(b);
		quota_discharge(f->quota, sizeof(*b));
	}
	xa_destroy(&f->prepared);
	kfree(f->spare);
	for (int cpu = 0; f->saved && cpu < nr_cpu_ids; cpu++)
		kfree(f->saved[cpu]);
	kfree(f->saved);
	put_pid(f->pid);
	free_cpumask_var(f->lost);
	quota_discharge(f->quota, file_bytes());
	quota_close(f->quota);
	kfree(f);
}

static int file_open(struct inode *inode, struct file *file)
{
	struct file_state *f;
	struct quota *quota;
	int ret;

	if (!perfmon_capable())
		return -EPERM;
	ret = security_locked_down(LOCKDOWN_MSR);
	if (ret)
		return ret;
	quota = quota_open();
	if (!quota)
		return -ENOMEM;
	ret = quota_charge(quota, file_bytes());
	if (ret)
		goto no_quota;
	ret = -ENOMEM;
	f = kzalloc(sizeof(*f), GFP_KERNEL_ACCOUNT);
	if (!f)
		goto no_file;
	if (!zalloc_cpumask_var(&f->lost, GFP_KERNEL_ACCOUNT))
		goto no_mask;
	f->quota = quota;
	xa_init_flags(&f->prepared, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	init_rwsem(&f->using);
	file->private_data = f;
	return nonseekable_open(inode, file);
no_mask:
	kfree(f);
no_file:
	quota_discharge(quota, file_bytes());
no_quota:
	quota_close(quota);
	return ret;
}

static int file_close(struct inode *inode, struct file *file)
{
	struct file_state *f = file->private_data;

	cpus_read_lock();
	down_write(&machine);
	if (holder == f) {
		restore_all(f, false);
		if (f->reserved)
			counters_release();
		holder = NULL;
	}
	up_write(&machine);
	cpus_read_unlock();
	file_free(f);
	return 0;
}

static const struct file_operations file_ops = {
	.owner = THIS_MODULE,
	.open = file_open,
	.release = file_close,
	.unlocked_ioctl = file_call,
	.compat_ioctl = compat_ptr_ioctl,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "tare_msr",
	.mode = 0600,
	.fops = &file_ops,
};

static struct notifier_block sleeping = { .notifier_call = machine_sleeps };
static struct notifier_block restarting = { .notifier_call = machine_restarts };
static int hotplug_state;

static int __init tare_msr_init(void)
{
	int ret = table_init();

	if (ret)
		return ret;
	ret = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "tare_msr:online", NULL, cpu_goes);
	if (ret < 0)
		return ret;
	hotplug_state = ret;
	ret = register_pm_notifier(&sleeping);
	if (ret)
		goto no_notifier;
	ret = register_reboot_notifier(&restarting);
	if (ret)
		goto no_reboot_notifier;
	ret = misc_register(&device);
	if (ret)
		goto no_device;
	return 0;
no_device:
	unregister_reboot_notifier(&restarting);
no_reboot_notifier:
	unregister_pm_notifier(&sleeping);
no_notifier:
	cpuhp_remove_state_nocalls(hotplug_state);
	return ret;
}

/* No file is open here: an open file has a reference to the module. */
static void __exit tare_msr_exit(void)
{
	misc_deregister(&device);
	unregister_reboot_notifier(&restarting);
	unregister_pm_notifier(&sleeping);
	cpuhp_remove_state_nocalls(hotplug_state);
}

module_init(tare_msr_init);
module_exit(tare_msr_exit);
MODULE_DESCRIPTION("batches of reads and writes of performance counter registers");
MODULE_LICENSE("GPL");
MODULE_VERSION("1");
