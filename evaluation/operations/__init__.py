"""A running site: system checks, logins, log fields, the message queue, full disks."""
