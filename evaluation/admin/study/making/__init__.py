"""Pages on which a study is made from another one."""
