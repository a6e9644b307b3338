/* SPDX-License-Identifier: MIT */
/*
 * The bits of a value are assigned to the ranges in order of bit numbers, lowest first. Source:
 * Linux, Documentation/ABI/testing/sysfs-bus-event_source-devices-format.
 */
#include <ctype.h>
#include <string.h>
#include "pmu/format.h"

/*
 * config3 was added in Linux 6.2; an older header lacks the field, and terms that need it are
 * refused.
 */
static __u64 *field(struct perf_event_attr *attr, unsigned config)
{
	switch (config) {
	case 0:
		return &attr->config;
	case 1:
		return &attr->config1;
	case 2:
		return &attr->config2;
#ifdef PERF_ATTR_SIZE_VER8
	case 3:
		return &attr->config3;
#endif
	}
	return NULL;
}

static int bit(const char **p)
{
	int n = 0;

	if (!isdigit((unsigned char)**p))
		return -1;
	for (; isdigit((unsigned char)**p); ++*p)
		if ((n = n * 10 + (**p - '0')) > 63)
			return -1;
	return n;
}

int format_parse(const char *text, struct format *out, struct tare_error *err)
{
	const char *p = text;
	struct format f = { 0 };
	int above = -1;

	if (strncmp(p, "config", 6))
		goto bad;
	p += 6;
	if (*p >= '1' && *p <= '3')
		f.config = (unsigned)(*p++ - '0');
	if (*p++ != ':')
		goto bad;
	for (;;) {
		int low = bit(&p), high = low;

		if (low >= 0 && *p == '-') {
			p++;
			high = bit(&p);
		}
		if (low <= above || high < low)
			goto bad;
		for (int b = low; b <= high; b++)
			f.mask |= UINT64_C(1) << b;
		above = high;
		if (*p != ',')
			break;
		p++;
	}
	if (*p && *p != '\n')
		goto bad;
	*out = f;
	return 0;
bad:
	return tare_fail(err, EINVAL, "'%.48s' is no format such as config:0-7,32-35", text);
}

unsigned format_bits(const struct format *f)
{
	return (unsigned)__builtin_popcountll(f->mask);
}

int format_put(const struct format *f, uint64_t value, struct perf_event_attr *attr,
	       struct tare_error *err)
{
	struct perf_event_attr copy = *attr;
	__u64 *to = field(&copy, f->config);
	uint64_t rest = value;

	if (!to)
		return tare_fail(err, EOPNOTSUPP, "this build knows no config%u", f->config);
	*to &= ~f->mask;
	for (unsigned b = 0; b < 64; b++)
		if (f->mask >> b & 1) {
			*to |= (__u64)(rest & 1) << b;
			rest >>= 1;
		}
	if (rest)
		return tare_fail(err, ERANGE, "%#llx does not fit its %u bit%s",
				 (unsigned long long)value, format_bits(f),
				 format_bits(f) == 1 ? "" : "s");
	*attr = copy;
	return 0;
}

uint64_t format_get(const struct format *f, const struct perf_event_attr *attr)
{
	struct perf_event_attr copy = *attr;
	const __u64 *from = field(&copy, f->config);
	uint64_t value = 0;
	unsigned n = 0;

	for (unsigned b = 0; from && b < 64; b++)
		if (f->mask >> b & 1)
			value |= (*from >> b & 1) << n++;
	return value;
}
