"""Everything before the pencil: kinds of tables, class statistics, shrinkage, builders."""
