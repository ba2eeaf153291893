import type { ChildProcess } from "node:child_process";
import { on } from "node:events";
import { createInterface } from "node:readline";

import { MATH_SKILL, meetingPoint, project, skillgate, start } from "../surfaces/cli/command.ts";

/** A server in a process of its own, and the commands that people give beside it. */
export interface ServeProcess {
  readonly url: string;
  readonly cwd: string;
  readonly child: ChildProcess;
  /** Resolves when a call of `MathSkill.wait(point)` has begun. */
  readonly nextWait: () => Promise<unknown>;
  readonly point: string;
  /** Runs a command in the project of the server; throws if it fails. */
  readonly run: (...args: readonly string[]) => Promise<string>;
  /** Creates a key and returns the header with it. */
  readonly createKey: (name: string, ...flags: readonly string[]) => Promise<{ readonly authorization: string }>;
}

/** Starts `skillgate serve --http` with the skill for calculations and these settings. */
export async function startServeProcess(settings = ""): Promise<ServeProcess> {
  const cwd = project({ "skills/math.js": MATH_SKILL, "settings.yaml": `store: { dir: state }\n${settings}` });
  const { path: point, next } = await meetingPoint(cwd);
  const run = async (...args: readonly string[]): Promise<string> => {
    const { exit, stdout, stderr } = await skillgate(args, { cwd });
    if (exit !== 0) throw new Error(stderr);
    return stdout;
  };
  const child = start(["serve", "--http", "--port", "0"], { cwd });
  if (child.stderr === null) throw new TypeError("The process has no stderr");
  const [url] = await readFirst(on(createInterface({ input: child.stderr }), "line"), /http:\/\/[^/\s]+/);
  return {
    url,
    cwd,
    child,
    nextWait: next,
    point,
    run,
    createKey: async (name, ...flags) => {
      const text = await run("keys", "create", name, ...flags);
      return { authorization: `Bearer ${text.trim()}` };
    },
  };
}

/** Returns the first match in lines of text. */
async function readFirst(lines: AsyncIterable<unknown>, pattern: RegExp): Promise<RegExpExecArray> {
  for await (const [line] of lines as AsyncIterable<readonly [string]>) {
    const found = pattern.exec(line);
    if (found !== null) return found;
  }
  throw new Error(`No line matches ${String(pattern)}`);
}
