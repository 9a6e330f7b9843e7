"""Jobs in the tables of Procrastinate, for PostgreSQL: any number of processes run them."""
