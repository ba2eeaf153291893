import { expect, test } from "vitest";

import { project, runProcess } from "../command.ts";

/** A library that quotes a server. */
const LIBRARY = `
const token = "gh" + "p_" + "aB3".repeat(12);
process.on("exit", () => console.warn("[sdk] excluding tool '%s'", "a\\u001b[2J\\u001b]0;title\\u0007 " + token));`;

test(
  "a warning of a library is one line without commands for the terminal, and without tokens [P9]",
  { tags: "rest" },
  async () => {
    const cwd = project({ "library.mjs": LIBRARY });
    const env = { NODE_OPTIONS: `--import=${new URL(`file://${cwd}/library.mjs`).href}` };
    const { exit, stderr } = await runProcess(["skills", "list"], { cwd, env });
    expect(exit).toBe(0);
    const line = stderr.split("\n").find((each) => each.startsWith("[sdk]"));
    expect(line).toBe(String.raw`[sdk] excluding tool 'a\u001b[2J\u001b]0;title\u0007 [redacted]'`);
  },
);
