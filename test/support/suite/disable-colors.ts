// Processes that tests start inherit the environment: a terminal's settings must not change the output that tests read.
delete process.env["FORCE_COLOR"];
delete process.env["CI"];
