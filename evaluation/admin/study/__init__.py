"""A study's own pages in the admin: its rules and questions, launch, revision, files and members."""
