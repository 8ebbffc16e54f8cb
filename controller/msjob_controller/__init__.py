"""The MSJob controller: what happens when a job, a pod or the clock moves."""
