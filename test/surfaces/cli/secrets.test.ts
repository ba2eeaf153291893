import { on, once } from "node:events";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";

import { CANARY, findLeak } from "../../support/canary.ts";
import { takeShare } from "../../support/repetitions.ts";
import { ended, project, shareProject, skillgate, start } from "./command.ts";

const LEAKY = {
  command: process.execPath,
  args: [resolve("test/fixtures/mcp/leaky.js")],
  env: { WEATHER_KEY: CANARY },
};

const SERVERS = {
  leaky: LEAKY,
  broken: { ...LEAKY, args: [...LEAKY.args, "down"] },
  line: { command: `no-such-program --api-key ${CANARY.replace(" ", "")}` },
};

/** Says its secret wherever a skill can say something. */
const SPILL_SKILL = `
/** Spills its secret. */
export const settings = { type: "object", properties: { key: { type: "string", writeOnly: true } } };
/** Gives it back. */
export function tell(context: CallContext): unknown { return { nested: [{ key: context.secrets.key }] }; }
/** Prints it. */
export function print(context: CallContext): string {
  context.log("warn", "logged " + context.secrets.key);
  console.log("printed " + context.secrets.key);
  process.stderr.write("written " + context.secrets.key + "\\n");
  return "done";
}
/** Fails with it. */
export function fail(context: CallContext): never {
  throw new Error("failed " + context.secrets.key, { cause: new Error(context.secrets.key) });
}
export function healthCheck() { return { healthy: false, message: ${JSON.stringify(`cannot use ${CANARY}`)} }; }
`;

const FILES = {
  "settings.yaml": `skills:\n  SpillSkill:\n    key: ${JSON.stringify(`spill ${CANARY}`)}\n`,
  ".mcp.json": JSON.stringify({ mcpServers: SERVERS }),
  "skills/spill.ts": SPILL_SKILL,
};

const getProject = shareProject(FILES);

/** Throws the canary in the process of the command when a signal tells it to. */
const FAULT = `process.on("SIGUSR2", () => {
  throw new Error("a fault " + process.env.CANARY, { cause: new Error(process.env.CANARY) });
});`;
const FAULTY = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(FAULT)}`, CANARY };

/** Every command, and what shows that it has said something of the secret. */
const COMMANDS: readonly (readonly [shown: string, ...args: readonly string[]])[] = [
  ["[secret:", "run", "-e", "return [await device.SpillSkill.tell(), await device.LeakyMCP.data({})]"],
  ["failed", "run", "-e", "await device.SpillSkill.fail()", "--trace", "--verbose", "--debug"],
  ["redacted", "run", "-e", "await device.BrokenMCP.tell({})"],
  ["[secret:1]", "call", "SpillSkill.tell"],
  ["failed", "call", "SpillSkill.fail", "--debug"],
  ["refused", "call", "LeakyMCP.fail", "--debug"],
  ["done", "call", "SpillSkill.print", "--verbose"],
  ["Says", "search", "says", "--verbose"],
  ["Says", "describe", "LeakyMCP.tell"],
  ["SpillSkill", "skills", "list", "--verbose"],
  ["cannot use", "skills", "health"],
  ["broken", "mcp", "list"],
  ["WEATHER_KEY", "mcp", "get", "leaky"],
  ["no-such-program", "mcp", "get", "line"],
  ["no-such-program", "mcp", "test"],
  ["using", "mcp", "logs", "broken"],
  ["using", "doctor"],
];

describe("masks a secret of the configuration in [P9]", () => {
  const cases = COMMANDS.flatMap((command) => [command, [...command, "--json"] as const]);
  test.each(takeShare(11, cases))("(%s) skillgate %s %s %s %s %s %s", { tags: "repeated" }, async (shown, ...args) => {
    const { stdout, stderr } = await skillgate(args, { cwd: getProject() });
    expect(stdout + stderr).toContain(shown);
    expect(findLeak(stdout + stderr)).toBeUndefined();
  });

  test("the stack of an uncaught exception in a command", { tags: "rest" }, async () => {
    const source = "await device.SpillSkill.print(); await new Promise(() => {})";
    const child = start(["run", "-e", source, "--verbose", "--debug"], { cwd: project(FILES), env: FAULTY });
    const ending = ended(child);
    for await (const [chunk] of on(child.stderr as NodeJS.ReadableStream, "data"))
      if (String(chunk).includes("written")) break;
    child.kill("SIGUSR2");
    const { exit, stdout, stderr } = await ending;
    expect(exit).toBe(1);
    expect(stderr).toMatch(/Error: a fault \[redacted\]\n +at /);
    expect(findLeak(stdout + stderr)).toBeUndefined();
  });

  test("the log and the stacks of serve, like its own token after it was shown", { tags: "rest" }, async () => {
    const server = start(["serve", "--http", "--port", "0", "--verbose"], {
      cwd: project(FILES),
      env: FAULTY,
    });
    let stderr = "";
    const said = async (pattern: RegExp): Promise<string> => {
      for (;;) {
        const found = pattern.exec(stderr);
        if (found !== null) return found[1] ?? found[0];
        await once(server.stderr as NodeJS.ReadableStream, "data");
      }
    };
    server.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    const token = await said(/Token, shown only once: (\S+)\n/);
    const url = await said(/(?:Serving|MCP) at (http:\S+)\/mcp/);
    const call = async (name: string, args: object): Promise<string> => {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } });
      const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
      return (await fetch(`${url}/rpc`, { method: "POST", headers, body })).text();
    };

    expect(await call("SpillSkill.print", {})).toContain("done");
    await said(/written/);
    const answers = [
      await call("LeakyMCP.fail", {}),
      await call("SpillSkill.fail", {}),
      await call("run_code", { code: `return ${JSON.stringify(token)}` }),
    ];
    expect(answers.join()).toMatch(/refused.*failed.*redacted/s);
    server.kill("SIGUSR2");
    await said(/Error: a fault \[redacted\]\n +at /);
    await said(/logged/);

    expect(findLeak(answers.join() + stderr)).toBeUndefined();
    expect(answers.join()).not.toContain(token);
    expect(stderr.split(token)).toHaveLength(2);
  });
});
