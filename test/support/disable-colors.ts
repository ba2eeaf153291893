// What a test starts inherits the environment: a terminal's wishes must not change what the test reads.
delete process.env["FORCE_COLOR"];
delete process.env["CI"];
