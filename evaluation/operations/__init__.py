"""What keeps a site running: system checks, logins, log fields, the message queue, full disks."""
