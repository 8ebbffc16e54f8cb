"""Pure decisions about a job: functions of (job, what is observed, now). No clock, no I/O, no rendering; one policy a file."""
