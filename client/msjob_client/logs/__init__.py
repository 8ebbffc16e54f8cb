"""What the pods of a job write: read once and merged by time, or followed over connections, containers and attempts."""
