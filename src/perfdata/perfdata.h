/* SPDX-License-Identifier: MIT */
/*
 * Reads any perf.data: file and pipe layout, directories, both byte orders, compressed or not.
 *
 * Records are read either with perfdata_next() in file order, or with perfdata_next_ordered() by
 * time. Both return views that are valid until the next call, and use bounded memory. Damage does
 * not affect the records before it: reading then ends with an error that names the file and the
 * byte, and perfdata_loss() reports how much is missing.
 */
#ifndef PERFDATA_PERFDATA_H
#define PERFDATA_PERFDATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/error.h"
#include "perfdata/perfdata_format.h"

struct perfdata; /* a reader */

struct perfdata_opts {
	/*
	 * Limit on the decompressed bytes of one compressed record; 0: that of the file's
	 * COMPRESSED feature, or 256 MiB without one. It affects time, not memory.
	 */
	uint64_t inflate_max;
	/*
	 * Limit on the bytes that perfdata_next_ordered() queues; 0: 32 MiB plus 64 for each byte
	 * read of the file, up to 1 GiB.
	 */
	size_t queue_max;
};

/*
 * perf_event_attr in this machine's byte order; fields that the file's writer did not have are 0.
 */
struct perfdata_attr {
	uint32_t type, size; /* size: as filled by the writer */
	uint64_t config;
	uint64_t period; /* or frequency in Hz, with PD_ATTR_FREQ in flags */
	uint64_t sample_type, read_format, flags;
	uint32_t wakeup, bp_type;
	uint64_t config1, config2, branch_sample_type, regs_user;
	uint32_t stack_user;
	int32_t clockid;
	uint64_t regs_intr;
	uint32_t aux_watermark, aux_sample_size;
	uint16_t max_stack;
	uint64_t sig_data, config3;
};

/* One recorded event. Lives as long as the reader. */
struct perfdata_event {
	struct perfdata_attr attr;
	char *name; /* from the file; if it has none, made from type and config. Never NULL */
	bool named; /* the name is from the file */
	uint64_t *ids;
	size_t n_ids;
	size_t index;
	uint32_t least_sample; /* bytes of a sample with its fixed-size fields, header included */
	char *unit;            /* or NULL */
	double scale;          /* or 1 */
	char *cpus;            /* "0-3" for an event on some CPUs only (hybrid, uncore), or NULL */
};

/* Counter values of PERF_SAMPLE_READ and READ: perfdata_read_at() extracts the members. */
struct perfdata_read {
	uint64_t format; /* PD_READ bits */
	uint64_t n;      /* members; 1 without PD_READ_GROUP */
	uint64_t enabled_ns,
		running_ns; /* of the group, or of the single event; 0 if not recorded */
	const uint64_t *words;
};

struct perfdata_value {
	uint64_t value, id, lost; /* id and lost only with PD_READ_ID, PD_READ_LOST in the format */
};

struct perfdata_value perfdata_read_at(const struct perfdata_read *read, uint64_t i);

/* One taken branch. flags: bit 0 mispredicted, 1 predicted, 2 in_tx, 3 abort, 4-19 cycles, 20-23
 * type, 24-25 speculation, 26-29 new type, 30-32 privilege, on every machine (perf_branch_entry).
 */
struct perfdata_branch {
	uint64_t from, to, flags;
};

struct perfdata_regs {
	uint64_t abi;  /* 0 none, 1 32-bit, 2 64-bit */
	uint64_t mask; /* bit mask of registers */
	const uint64_t *reg;
	unsigned n;
};

/* Fields are valid if perfdata_record.has contains their bit. */
struct perfdata_sample {
	uint64_t ip, addr;
	uint64_t
		period; /* without PD_SAMPLE_PERIOD: the event's fixed period; 0 if it is unknown */
	struct perfdata_read read;
	const uint64_t
		*chain; /* addresses, with context markers above PD_CONTEXT_MAX between them */
	uint64_t n_chain;
	const void *raw; /* in the recording machine's byte order */
	uint32_t raw_size;
	const struct perfdata_branch *branches;
	const uint64_t *branch_counters; /* n_branches of them, or NULL */
	uint64_t n_branches, branch_hw_index;
	bool has_hw_index;
	struct perfdata_regs regs_user, regs_intr;
	const void *stack;                   /* user stack from the stack pointer up */
	uint64_t stack_size, stack_dyn_size; /* bytes copied; valid bytes of them */
	uint64_t weight; /* WEIGHT_STRUCT: three parts of 32, 16 and 16 bits, lowest first */
	uint64_t data_src, transaction, phys_addr, cgroup, data_page_size, code_page_size;
	const void *aux; /* in the recording machine's byte order */
	uint64_t aux_size;
};

struct perfdata_mmap {
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	/* MMAP2 only; either the inode or the build id */
	uint32_t major, minor;
	uint64_t inode, inode_generation;
	uint32_t prot, flags;
	const uint8_t *build_id;
	uint8_t build_id_size; /* 0: none, inode is valid */
	const char *file;
};

struct perfdata_index_row {
	uint64_t id, index, cpu, tid;
};

/* A record. `type` selects the member of the union. */
struct perfdata_record {
	uint32_t type; /* PD_RECORD_ */
	uint16_t misc, size;
	/* of its header in the file; within a compressed record: that record's offset */
	uint64_t offset;
	bool inflated; /* was inside a compressed record */
	unsigned file; /* directory layout: 0 for `data`, n + 1 for `data.n` */
	/* why its fields could not be decoded (they are then not valid), or NULL */
	const char *bad;
	const unsigned char *bytes; /* the raw record, starting with the header */
	/* bytes that follow it but are not in `size`: perfdata_payload() */
	uint64_t payload;

	/* The event it belongs to; NULL if the file does not say. */
	const struct perfdata_event *event;
	uint32_t has; /* PD_SAMPLE bits: which fields below and of `sample` were recorded */
	uint32_t pid, tid, cpu;
	uint64_t time, id, stream_id;

	union {
		struct perfdata_sample sample;
		struct perfdata_mmap mmap; /* MMAP, MMAP2 */
		struct {
			uint64_t id, lost;
		} lost; /* LOST; LOST_SAMPLES without id */
		struct {
			uint32_t pid, tid;
			const char *comm;
		} comm;
		struct {
			uint32_t pid, ppid, tid, ptid;
			uint64_t time;
		} task; /* FORK, EXIT */
		struct {
			uint64_t time, id, stream_id;
		} throttle; /* THROTTLE, UNTHROTTLE */
		struct {
			uint32_t pid, tid;
			struct perfdata_read read;
		} read;
		struct {
			uint64_t offset, size, flags;
		} aux;
		struct {
			uint32_t pid, tid;
		} process; /* ITRACE_START; SWITCH_CPU_WIDE: the next or previous */
		struct {
			uint32_t pid, tid;
			uint64_t n;
			const uint64_t *dev_inode; /* n pairs */
		} namespaces;
		struct {
			uint64_t addr;
			uint32_t len;
			uint16_t type, flags;
			const char *name;
		} ksymbol;
		struct {
			uint16_t type, flags;
			uint32_t id;
			const uint8_t *tag; /* 8 bytes */
		} bpf;
		struct {
			uint64_t id;
			const char *path;
		} cgroup;
		struct {
			uint64_t addr;
			uint16_t old_len, new_len;
			const uint8_t *bytes; /* old, then new */
		} text_poke;
		uint64_t hw_id; /* AUX_OUTPUT_HW_ID */
		struct {
			uint64_t cookie, n;
			const uint64_t *chain;
		} deferred;

		const struct perfdata_event *attr; /* ATTR */
		struct {
			uint64_t id;
			const char *name;
		} event_type;
		struct {
			int32_t pid;
			const uint8_t *id;
			uint8_t id_size;
			const char *file;
		} build_id;
		struct {
			uint64_t n;
			const uint64_t *words;  /* 4 per row: perfdata_index_at() */
			const uint64_t *guests; /* 2 per row (machine pid, vcpu), or NULL */
		} id_index;
		struct {
			uint32_t type;
			uint64_t n;
			const uint64_t *priv;
		} auxtrace_info;
		struct {
			uint64_t size, offset, reference;
			uint32_t index, tid, cpu;
		} auxtrace;
		struct {
			uint32_t type, code, cpu, pid, tid, format;
			uint64_t ip, time;
			const char *message;
		} auxtrace_error;
		struct {
			uint64_t n;
			const unsigned char *rows; /* perfdata_thread_at() */
		} thread_map;
		struct {
			char *cpus; /* "0-3,8" */
		} cpu_map;
		struct {
			uint64_t n;
			const uint64_t *words; /* pairs of tag and value */
		} stat_config;
		struct {
			uint64_t id;
			uint32_t cpu, thread;
			uint64_t value, enabled_ns, running_ns;
		} stat;
		struct {
			uint64_t type, time;
		} stat_round;
		struct {
			uint64_t type, id;
			const char *text; /* unit, name or CPUs */
			double scale;
		} event_update;
		struct {
			uint64_t shift, mult, zero, cycles, mask;
			bool user_time_zero, user_time_short,
				whole; /* whole: the last five are present */
		} time_conv;
		struct {
			uint64_t id;
			const unsigned char *bytes;
			size_t n;
		} feature;
		struct {
			const unsigned char *bytes;
			uint64_t n;
		} compressed;
		struct {
			const char *program; /* BPF_METADATA */
			uint64_t n;
			const char *rows; /* n pairs of 64 and 256 bytes */
		} bpf_metadata;
	};
};

struct perfdata_index_row perfdata_index_at(const struct perfdata_record *rec, uint64_t i);

/* The i-th process of a THREAD_MAP; its name is copied into `comm`. */
uint64_t perfdata_thread_at(const struct perfdata *r, const struct perfdata_record *rec, uint64_t i,
			    char comm[17]);

/* Data missing from the records that were returned. */
struct perfdata_loss {
	uint64_t lost;         /* events that the kernel dropped: sum of LOST, samples and others */
	uint64_t lost_samples; /* sum of LOST_SAMPLES */
	uint64_t undecodable;  /* records with fields that did not fit (bad != NULL) */
	uint64_t unattributed; /* samples without a known event */
	uint64_t unread;       /* bytes not read after damage; a lower bound for a pipe */
	uint64_t disordered;   /* perfdata_next_ordered: records older than one already returned */
	/* THROTTLE records: how often the kernel stopped an event for a while */
	uint64_t throttled;
	uint64_t truncated_aux; /* AUX records with flags for missing data */
};

/* The message for a file with broke_off set. */
#define PERFDATA_BROKE_OFF                                                                         \
	"the recording broke off: its recorder did not finish, and its end may be missing"

/* Properties of the file. */
struct perfdata_file {
	const char *path;
	int version;                   /* 1 or 2 */
	bool pipe, directory, swapped; /* swapped: the byte order is not this machine's */
	bool unfinished;               /* the recorder never closed it: data size 0 */
	bool broke_off;                /* ... or wrote no features, which are at the end */
	uint64_t attr_size, data_offset, data_size;
	size_t n_files;
};

/*
 * Opens a perf.data: a file, a directory of the directory layout, a pipe, or "-" for standard
 * input. A file layout from a pipe is copied to an unnamed temporary file first, because its header
 * has forward offsets. NULL with `err` set if it is not a perf.data. Free with perfdata_close().
 */
struct perfdata *perfdata_open(const char *path, const struct perfdata_opts *opts,
			       struct tare_error *err);
void perfdata_close(struct perfdata *r);

/*
 * The next record in file order: 1 and *out, 0 at the end, a negative errno on damage; after damage
 * every call fails the same way. Costs a few tens of ns for a plain sample.
 */
int perfdata_next(struct perfdata *r, struct perfdata_record *out, struct tare_error *err);

/*
 * The next record by time. Records without a time keep their place in the file and are returned as
 * soon as they are read. Queues records until FINISHED_ROUND releases them, at most opts.queue_max
 * bytes. Damage is reported after everything before it has been returned. Use either this or
 * perfdata_next() on one reader. Source: perf.data-file-format.txt, "PERF_RECORD_FINISHED_ROUND".
 */
int perfdata_next_ordered(struct perfdata *r, struct perfdata_record *out, struct tare_error *err);

/* Up to n bytes of the data after the last record that was returned; 0 at its end. */
ssize_t perfdata_payload(struct perfdata *r, void *buf, size_t n, struct tare_error *err);

const struct perfdata_file *perfdata_file(const struct perfdata *r);
const struct perfdata_loss *perfdata_loss(const struct perfdata *r);
size_t perfdata_event_count(const struct perfdata *r);
const struct perfdata_event *perfdata_event_at(const struct perfdata *r, size_t i);
/* The event of an id, or NULL. */
const struct perfdata_event *perfdata_event_of(const struct perfdata *r, uint64_t id);
/* The fields of a tracepoint's raw data, if the file has its format (TRACING_DATA); else NULL. */
struct tracing_event;
const struct tracing_event *perfdata_tracepoint(const struct perfdata *r,
						const struct perfdata_event *ev);
/*
 * false: features are truncated or damaged, and `why` names them. Known after opening; for a pipe,
 * after reading.
 */
bool perfdata_whole(const struct perfdata *r, struct tare_error *why);
/* The i-th warning about the file; NULL past the last. */
const char *perfdata_note(const struct perfdata *r, size_t i);

/* "SAMPLE", "MMAP2", ...; NULL for an unnamed type. */
const char *perfdata_type_name(uint32_t type);

#endif
