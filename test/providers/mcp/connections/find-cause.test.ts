import { spawnSync } from "node:child_process";

import { expect, test } from "vitest";

import { findCause } from "../../../../src/providers/mcp/connections/find-cause.ts";

test.each([
  [
    "process.stderr.write('Starting\\n'); throw new Error('API_KEY is missing: set it')",
    "Error: API_KEY is missing: set it",
  ],
  ["console.error('Fatal error in main():', new TypeError('no url'))", "Fatal error in main(): TypeError: no url"],
  ["require('no-such-package')", "Error: Cannot find module 'no-such-package'"],
  ["Promise.reject(new RangeError('port 99999'))", "RangeError: port 99999"],
  ["JSON.parse('{')", /^SyntaxError: Expected property name/],
])("finds the cause in what Node prints for %s [X8]", (code, cause) => {
  const { stderr } = spawnSync(process.execPath, ["-e", code], { encoding: "utf8" });
  expect(findCause(stderr)).toEqual(typeof cause === "string" ? cause : expect.stringMatching(cause));
});

const TRACE = 'Traceback (most recent call last):\n  File "/srv/main.py", line 1, in <module>\n';

test.each([
  [
    `INFO start\n${TRACE}    raise SystemError: \nModuleNotFoundError: No module named 'mcp'\n`,
    "ModuleNotFoundError: No module named 'mcp'",
  ],
  [
    `${TRACE}KeyError: 'URL'\n\nDuring handling of the above exception, another exception occurred:\n\n${TRACE}subprocess.TimeoutExpired: Command 'x' timed out\n`,
    "subprocess.TimeoutExpired: Command 'x' timed out",
  ],
  [
    '  + Exception Group Traceback (most recent call last):\n  |   File "x.py", line 1\n  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)\n  +-+---------------- 1 ----------------\n    | Traceback (most recent call last):\n    |   File "y.py", line 2\n    | ConnectionError: refused\n    +------------------------------------\n',
    "ConnectionError: refused",
  ],
  [
    "2026/11/26 start\npanic: runtime error: index out of range [5]\n\ngoroutine 1 [running]:\nmain.main()\n\t/srv/main.go:5 +0x1d\nexit status 2",
    "panic: runtime error: index out of range [5]",
  ],
  [
    "fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 [chan receive]:\n",
    "fatal error: all goroutines are asleep - deadlock!",
  ],
  [
    "thread 'main' panicked at src/main.rs:3:5:\nno TOKEN\nnote: run with `RUST_BACKTRACE=1`",
    "thread 'main' panicked at src/main.rs:3:5: no TOKEN",
  ],
  [
    "thread 'main' (12) panicked at 'no TOKEN', src/main.rs:3\nnote: run with",
    "thread 'main' (12) panicked at 'no TOKEN', src/main.rs:3",
  ],
  [
    'Exception in thread "main" java.lang.IllegalStateException: no key\n\tat Main.main(Main.java:3)',
    'Exception in thread "main" java.lang.IllegalStateException: no key',
  ],
  [
    "main.rb:3:in `<main>': undefined method `x' for nil (NoMethodError)\n\tfrom lib.rb:1",
    "main.rb:3:in `<main>': undefined method `x' for nil (NoMethodError)",
  ],
  [
    "usage: server [-h] --key KEY\nserver: error: the following arguments are required: --key",
    "server: error: the following arguments are required: --key",
  ],
  [
    "server <path>\n\nOptions:\n  --help  Show help\n\nMissing required argument: path",
    "Missing required argument: path",
  ],
  [
    "Usage: xcodebuildmcp <command> [options]\n\nCommands:\n  mcp  Start the MCP server\n\nOptions:\n  -h, --help  Show help  [boolean]",
    "Usage: xcodebuildmcp <command> [options]",
  ],
  [
    "npm error code E404\nnpm error 404 Not Found - GET https://registry.npmjs.org/none\nnpm error A complete log",
    "npm error 404 Not Found - GET https://registry.npmjs.org/none",
  ],
  ["starting\nstopped", undefined],
])("finds the cause in %j [X8]", (text, cause) => {
  expect(findCause(text)).toBe(cause);
});

test("searches long output in linear time [X8]", () => {
  const started = performance.now();
  for (const line of ["thread '", "error ", "missing ", "(A:", "| ", "^", "npm error ", "  at ", "docker", "Error ["])
    expect(findCause(line.repeat(8_000))?.length ?? 0).toBeLessThanOrEqual(80_000);
  expect(performance.now() - started).toBeLessThan(2_000);
});
