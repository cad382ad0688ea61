"""Django's SQLite backend, whose connections outlive a request."""
