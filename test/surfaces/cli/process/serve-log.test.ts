import { afterEach, expect, test, vi } from "vitest";

import { openServeLog } from "../../../../src/surfaces/cli/serve-log.ts";
import { openTerminal } from "../../../../src/surfaces/cli/terminal/terminal.ts";

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

function collectStderr(): string[] {
  const written: string[] = [];
  vi.spyOn(process.stderr, "write").mockImplementation((text) => written.push(String(text)) > 0);
  return written;
}

const PAINT = openTerminal({ json: true, debug: false }).paint.err;

test("writes the warnings of the server itself without --verbose, and not those of skills and MCP servers", () => {
  const written = collectStderr();
  const { listener } = openServeLog("text", { isVerbose: false, paint: PAINT });
  listener("warn", "Cannot record run r1", undefined);
  listener("error", "The store fails", undefined);
  listener("info", "Connected", undefined);
  listener("warn", "is slow", "MusicSkill.play");
  expect(written).toEqual(["warn Cannot record run r1\n", "error The store fails\n"]);
});

test("writes at most 20 warnings in a minute, and then how many others there were", () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const written = collectStderr();
  const { listener } = openServeLog("text", { isVerbose: false, paint: PAINT });
  for (let n = 1; n <= 25; n++) listener("warn", `Cannot record run r${n}`, undefined);
  expect(written).toHaveLength(20);
  vi.advanceTimersByTime(60_000);
  expect(written.at(-1)).toBe("warn 5 further warnings in the last minute; --verbose writes all\n");
  listener("warn", "Cannot record run r26", undefined);
  expect(written.at(-1)).toBe("warn Cannot record run r26\n");
});

test("tells a failure of the store once, though several parts of the server report it", () => {
  const written = collectStderr();
  const { listener, warn } = openServeLog("text", { isVerbose: false, paint: PAINT });
  const error = "Cannot use a store that a newer version has changed: state/skillgate.db";
  listener("error", `The store fails: ${error}`, undefined);
  listener("warn", `Cannot follow the runs: ${error}`, undefined);
  warn([{ source: "", error }]);
  listener("warn", "Cannot follow the runs: another cause", undefined);
  expect(written).toEqual([`error The store fails: ${error}\n`, "warn Cannot follow the runs: another cause\n"]);
});
