{"counter-value" : "86.638138", "unit" : "msec", "event" : "task-clock", "variance" : 0.74, "event-runtime" : 86638138, "pcnt-running" : 100.00, "metric-value" : 0.925524, "metric-unit" : "CPUs utilized"}
{"counter-value" : "4140.600000", "unit" : "", "event" : "page-faults", "variance" : 35.37, "event-runtime" : 86638138, "pcnt-running" : 100.00, "metric-value" : 30.801061, "metric-unit" : "K/sec"}
{"counter-value" : "300000005.200000", "unit" : "", "event" : "cycles:u", "variance" : 0.00, "event-runtime" : 43319069, "pcnt-running" : 50.00, "metric-value" : 3.448672, "metric-unit" : "G/sec"}
{"counter-value" : "226412345.000000", "unit" : "", "event" : "instructions:u", "variance" : 0.00, "event-runtime" : 86638138, "pcnt-running" : 100.00, "metric-value" : 0.754708, "metric-unit" : "insn per cycle"}
{"counter-value" : "<not supported>", "unit" : "", "event" : "branch-misses:u", "variance" : 0.00, "event-runtime" : 0, "pcnt-running" : 100.00, "metric-value" : 0.000000, "metric-unit" : ""}
{"counter-value" : "<not supported>", "unit" : "", "event" : "dTLB-misses:u", "variance" : 0.00, "event-runtime" : 0, "pcnt-running" : 100.00, "metric-value" : 0.000000, "metric-unit" : ""}
{"counter-value" : "1.168810", "unit" : "Joules", "event" : "power/energy-pkg/", "variance" : 0.14, "event-runtime" : 86638138, "pcnt-running" : 100.00, "metric-value" : 0.000000, "metric-unit" : ""}
