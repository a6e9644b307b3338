{"cpu" : "0", "counter-value" : "1000.000000", "unit" : "msec", "event" : "cpu-clock", "event-runtime" : 1000000000, "pcnt-running" : 100.00, "metric-value" : 1.000000, "metric-unit" : "CPUs utilized"}
{"cpu" : "1", "counter-value" : "1000.000000", "unit" : "msec", "event" : "cpu-clock", "event-runtime" : 1000000000, "pcnt-running" : 100.00, "metric-value" : 1.000000, "metric-unit" : "CPUs utilized"}
{"cpu" : "0", "counter-value" : "3000000000.000000", "unit" : "", "event" : "cycles", "event-runtime" : 1000000000, "pcnt-running" : 100.00, "metric-value" : 3.000000, "metric-unit" : "G/sec"}
{"cpu" : "1", "counter-value" : "6000000000.000000", "unit" : "", "event" : "cycles", "event-runtime" : 1000000000, "pcnt-running" : 100.00, "metric-value" : 6.000000, "metric-unit" : "G/sec"}
{"cpu" : "0", "counter-value" : "<not supported>", "unit" : "", "event" : "instructions", "event-runtime" : 0, "pcnt-running" : 100.00, "metric-value" : 0.000000, "metric-unit" : ""}
{"cpu" : "1", "counter-value" : "<not supported>", "unit" : "", "event" : "instructions", "event-runtime" : 0, "pcnt-running" : 100.00, "metric-value" : 0.000000, "metric-unit" : ""}
