/* SPDX-License-Identifier: MIT */
/* The list of formats: one row each. */
#include "export/export.h"

extern const struct exporter export_chrome, export_perfetto, export_firefox, export_speedscope,
	export_folded, export_pprof, export_csv, export_html;

const struct exporter *const exporters[] = {
	&export_chrome,     &export_perfetto, &export_firefox,
	&export_speedscope, &export_folded,   &export_pprof,
	&export_csv,        &export_html,     NULL,
};
