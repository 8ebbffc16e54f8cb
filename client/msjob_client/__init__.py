"""A typed Python client for MSJobs."""
