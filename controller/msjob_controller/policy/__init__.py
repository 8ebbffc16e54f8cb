"""Pure decisions about a job: functions of (job, what is observed, now). No clock, no I/O, one policy a file."""
