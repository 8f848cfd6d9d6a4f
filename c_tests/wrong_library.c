/* A library that is not ours: it has no dram_get_api. */
int somebody_elses(void);
int somebody_elses(void) { return 1; }
