# What a synopsis in the guide stands in: its files exist, under the names that stand there.
cp "$DRAMALLOC/tests/data/two_cores.program.json" PROGRAM
cp PROGRAM PROGRAM_A && cp PROGRAM PROGRAM_B
dramalloc plan -q PROGRAM -o PLAN && cp PLAN PLAN_A
dramalloc plan -q PROGRAM_B --floor holes -o PLAN_B
@block@
