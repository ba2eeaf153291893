import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { SkillgateError } from "../../../src/errors.ts";
import type { Client } from "../../../src/model/client-requests.ts";
import { loadSkills, type SkillsProvider } from "../../../src/providers/skills/index.ts";
import { call, loadFiles, temporaryFolder, writeFiles } from "./call.ts";
import { createStore } from "../../../src/store/index.ts";

let misbehaving: string;

beforeAll(async () => {
  misbehaving = await readFile(fileURLToPath(new URL("../../fixtures/skills/misbehaving.ts", import.meta.url)), "utf8");
});

const COUNTER =
  "let count = 0;\nexport const next = () => ++count;\nexport const later = async (ms: number) => { await new Promise((r) => setTimeout(r, ms)); return ++count; };";

/** Skills whose methods leave nothing in their process that another test could see. */
const SHARED_SKILLS = {
  "counter.ts": COUNTER,
  "patient.ts": `
    let heard = 0;
    export const wait = (context) => new Promise((resolve) => context.signal.addEventListener("abort", () => { heard++; resolve("late"); }));
    export const heardOf = () => heard;
  `,
  "speaker.ts": `
    export function speak(word: string, context: CallContext) {
      context.log("warn", word);
      context.progress(1, 3, "a third");
      const { caller, runId, callId, settings, secrets } = context;
      return { caller, runId, callId, settings, secrets, aborted: context.signal.aborted };
    }
  `,
  "keeper.ts": `
    /** A class, so that all its methods share one text. */
    export class KeeperSkill {
      async keep(key: string, value: unknown, context: CallContext) { await context.store.set(key, value); }
      async read(key: string, context: CallContext) { return (await context.store.get(key)) ?? "nothing"; }
      async list(prefix: string, context: CallContext) { return context.store.entries(prefix); }
      async drop(key: string, context: CallContext) { return context.store.delete(key); }
      async misuse(context: CallContext) { await context.store.set("f", () => 1); }
    }
  `,
  "seats.ts": `
    export async function choose(context: CallContext) {
      const params = { message: "Which seat?", requestedSchema: { type: "object", properties: {} } };
      return (await context.client?.ask("elicitation/create", params, "seat")) ?? "none";
    }
    export async function sample(context: CallContext) {
      return [context.client.can("sampling/createMessage"), await context.client.ask("sampling/createMessage", {})];
    }
    export async function odd(what: unknown, context: CallContext) { return context.client.ask(what, {}); }
    export async function misuse(context: CallContext) {
      return context.client.ask("elicitation/create", { message: () => "?" });
    }
  `,
  "args.ts": `
    export class ArgsSkill {
      given(a: string, b = 2, c?: number) { return [a, b, c, arguments.length]; }
      dated(at: Date, link: URL) { return [at instanceof Date, at.getUTCFullYear(), link.host]; }
      many(first: string, ...others: number[]) { return [first, others]; }
      object({ a, b = 3 }: { a: number; b?: number }, { caller }) { return [a, b, caller.id]; }
      bytes(data: Uint8Array) { return data.map((byte) => byte * 2); }
    }
  `,
};

const sharedLogged: string[] = [];
let shared: Promise<{ readonly folder: string; readonly provider: SkillsProvider }> | undefined;

/** Returns the skills of the tests that need no process of their own, and the misbehaving skill. */
async function getShared(): Promise<SkillsProvider> {
  return (await (shared ??= loadShared())).provider;
}

async function loadShared(): Promise<{ readonly folder: string; readonly provider: SkillsProvider }> {
  const folder = await mkdtemp(join(tmpdir(), "skillgate-test-"));
  await writeFiles(join(folder, "skills"), { ...SHARED_SKILLS, "misbehaving.ts": misbehaving });
  const provider = await loadSkills(join(folder, "skills"), {
    cacheDir: join(folder, "cache"),
    log: (level, text) => sharedLogged.push(`${level} ${text}`),
  });
  return { folder, provider };
}

afterAll(async () => {
  if (shared === undefined) return;
  const { folder, provider } = await shared;
  await provider.close();
  await rm(folder, { recursive: true, force: true });
});

const logged: string[] = [];

/** The skill that does what a skill should not do, and one that counts how often its process was asked. */
async function load(): Promise<SkillsProvider> {
  logged.length = 0;
  return loadFiles(
    {
      "misbehaving.ts": misbehaving,
      "counter.ts": COUNTER,
    },
    { log: (level, text) => logged.push(`${level} ${text}`) },
  );
}

/** `Cannot complete the call: "MisbehavingSkill.<method>" <what> (CALL_FAILED)`. */
function failed(method: string, what: string) {
  return {
    name: "SkillgateError",
    code: "CALL_FAILED",
    message: `Cannot complete the call: "MisbehavingSkill.${method}" ${what} (CALL_FAILED)`,
    facts: { skill: "MisbehavingSkill", method },
  };
}

describe("skills that misbehave", () => {
  test(
    "stops a skill that blocks its process at its timeout, and moves other calls to another process [L10]",
    { tags: "rest" },
    async () => {
      const provider = await load();
      const reason = new SkillgateError("CALL_TIMEOUT", "Tool 'MisbehavingSkill.spin' timed out after 2s");
      const abort = new AbortController();
      const spin = expect(call(provider, "MisbehavingSkill.spin", {}, { signal: abort.signal })).rejects.toBe(reason);
      const beside = await Promise.all([1, 2, 3].map(() => call(provider, "CounterSkill.next")));
      expect(new Set(beside)).toEqual(new Set([1, 2, 3]));
      abort.abort(reason);
      await spin;
      await expect(call(provider, "CounterSkill.next")).resolves.toBe(4);
    },
  );

  test("fails only the call that calls process.exit [L10]", async () => {
    const provider = await load();
    const beside = call(provider, "CounterSkill.later", { ms: 50 });
    await expect(call(provider, "MisbehavingSkill.exit")).rejects.toMatchObject(
      failed("exit", "called process.exit(3), but a skill cannot end the program"),
    );
    await expect(beside).resolves.toBe(1);
  });

  test("restarts a skill that ended its process for the next call [L10]", { tags: "rest" }, async () => {
    const provider = await load();
    await expect(call(provider, "CounterSkill.next")).resolves.toBe(1);
    await expect(call(provider, "MisbehavingSkill.kill")).rejects.toMatchObject(
      failed("kill", "did not finish: the skill process ended by SIGKILL"),
    );
    await expect(call(provider, "CounterSkill.next")).resolves.toBe(1);
  });

  test("stops a skill that exceeds its memory [L10]", { tags: "rest" }, async () => {
    const provider = await loadFiles({ "misbehaving.ts": misbehaving }, { memoryBytes: 128 << 20 });
    await expect(call(provider, "MisbehavingSkill.eat")).rejects.toMatchObject({
      code: "CALL_FAILED",
      message: expect.stringMatching(
        /"MisbehavingSkill\.eat" did not finish: the skill process (?:ran out of memory|used more than 192 MB of memory)/,
      ),
    });
    await expect(call(provider, "MisbehavingSkill.until", { ms: 1 })).resolves.toBe("done");
  });

  test("stops a skill that exceeds its memory outside of its heap [L10]", { tags: "rest" }, async () => {
    const hoarder = "export function hoard() { for (const all = []; ; ) all.push(Buffer.alloc(1 << 22, 1)); }";
    const provider = await loadFiles({ "hoarder.js": hoarder }, { memoryBytes: 128 << 20 });
    await expect(call(provider, "HoarderSkill.hoard")).rejects.toThrow(
      '"HoarderSkill.hoard" did not finish: the skill process used more than 192 MB of memory',
    );
  });

  test.each([
    ["throwLater", "failed outside of its call: out of a timer"],
    ["rejectLater", "failed outside of its call: nobody awaits this"],
    ["callback", 'did not return plain data: "result.list[0].next" is a function'],
  ])("fails only the call of %s [L10]", { tags: "rest" }, async (method, what) => {
    const provider = await load();
    const beside = call(provider, "CounterSkill.later", { ms: 50 });
    await expect(call(provider, `MisbehavingSkill.${method}`)).rejects.toMatchObject(failed(method, what));
    await expect(beside).resolves.toBe(1);
  });

  test("only logs an error after the answer [L10]", async () => {
    const provider = await getShared();
    await expect(call(provider, "MisbehavingSkill.leak")).resolves.toBe("answered");
    await expect
      .poll(() => sharedLogged.join("\n"))
      .toContain("failed outside of any call: Error: long after the answer");
    await expect(call(provider, "CounterSkill.next")).resolves.toBe(1);
  });

  test("hides the channel to the runtime from skills, and logs their output [L10]", async () => {
    const provider = await getShared();
    await expect(call(provider, "MisbehavingSkill.talk")).resolves.toBeUndefined();
    await expect.poll(() => sharedLogged).toContain("info printed by a skill");
  });

  test("ends only the process of a skill that writes into the channel [L10]", { tags: "rest" }, async () => {
    const provider = await load();
    await expect(call(provider, "MisbehavingSkill.garble")).rejects.toMatchObject(
      failed("garble", "did not finish: the skill process sent an unreadable message"),
    );
    await expect(call(provider, "CounterSkill.next")).resolves.toBe(1);
  });

  test("transfers large values unchanged, and refuses values above the limit [L10]", { tags: "rest" }, async () => {
    const provider = await loadFiles({
      "large.ts": `
        export const echo = (text: string) => text;
        export const repeat = (times: number) => "x".repeat(times);
        export const nested = (depth: number) => { let value: unknown = 1; while (depth-- > 0) value = [value]; return value; };
      `,
    });
    const mb = 1 << 20;
    const text = "ä€𝄞".repeat(4 * mb);
    const [back, ...times] = await Promise.all([
      call(provider, "LargeSkill.echo", { text }),
      ...[1, 2 * mb, 40 * mb].map((count) => call(provider, "LargeSkill.repeat", { times: count })),
    ]);
    expect(back === text).toBe(true);
    expect(times.map((each) => String(each).length)).toEqual([1, 2 * mb, 40 * mb]);
    const refused = (method: string, what: string) => ({
      code: "CALL_FAILED",
      message: `Cannot complete the call: "LargeSkill.${method}" ${what} (CALL_FAILED)`,
    });
    await expect(call(provider, "LargeSkill.repeat", { times: 100 * mb })).rejects.toMatchObject(
      refused("repeat", "returned more than 64 MB"),
    );
    await expect(call(provider, "LargeSkill.echo", { text: "x".repeat(100 * mb) })).rejects.toMatchObject(
      refused("echo", "received more than 64 MB"),
    );
    await expect(call(provider, "LargeSkill.echo", { text: () => 1 })).rejects.toMatchObject(
      refused("echo", "received a value that is not plain data: () => 1 could not be cloned."),
    );
    for (const depth of [501, 1_000_000])
      await expect(call(provider, "LargeSkill.nested", { depth })).rejects.toMatchObject({
        code: "NESTING_LIMIT",
        message: 'The value is nested too deeply: "LargeSkill.nested" returned more than 500 levels (NESTING_LIMIT)',
      });
    await expect(call(provider, "LargeSkill.echo", { text: "small" })).resolves.toBe("small");
  });

  test("counts shared references by their serialized size [L10]", { tags: "rest" }, async () => {
    const provider = await loadFiles({
      "laughing.ts": `
        const laughs = (times: number) => { let all: unknown = ["lol"]; while (times-- > 0) all = [all, all]; return all; };
        export const laugh = (times: number) => laughs(times);
        export const say = (text: string) => Array(200).fill(Buffer.from(text));
        export async function keep(times: number, context: CallContext) { await context.store.set("all", laughs(times)); }
        export const empty = () => { const list: unknown[] = []; list.length = 4e9; return list; };
      `,
    });
    const refused = (method: string, what: string) => ({
      code: "CALL_FAILED",
      message: `Cannot complete the call: "LaughingSkill.${method}" ${what} (CALL_FAILED)`,
    });
    await expect(call(provider, "LaughingSkill.laugh", { times: 2 })).resolves.toEqual([
      [["lol"], ["lol"]],
      [["lol"], ["lol"]],
    ]);
    await expect(call(provider, "LaughingSkill.laugh", { times: 30 })).rejects.toMatchObject(
      refused("laugh", "returned more than 2 million values"),
    );
    await expect(call(provider, "LaughingSkill.empty")).rejects.toMatchObject(
      refused("empty", "returned more than 2 million values"),
    );
    await expect(call(provider, "LaughingSkill.say", { text: "x".repeat(1 << 20) })).rejects.toMatchObject(
      refused("say", "returned more than 64 MB"),
    );
    await expect(call(provider, "LaughingSkill.keep", { times: 30 })).rejects.toThrow("more than 2 million values");
  });

  test("keeps the name and message of an error, without the path of the skills [L3]", async () => {
    const provider = await getShared();
    await expect(call(provider, "MisbehavingSkill.path")).rejects.toMatchObject({
      name: "RangeError",
      message: "no such thing in data",
    });
  });
});

describe("calls", () => {
  test("ends a cancelled call at once and aborts the method's signal [X2]", async () => {
    const provider = await getShared();
    const abort = new AbortController();
    const waiting = call(provider, "PatientSkill.wait", {}, { signal: abort.signal });
    await call(provider, "PatientSkill.heardOf");
    abort.abort();
    await expect(waiting).rejects.toMatchObject({ code: "CALL_CANCELLED" });
    await expect(call(provider, "PatientSkill.heardOf")).resolves.toBe(1);
  });

  test("passes the call's facts, log and progress in the context [L3]", async () => {
    const provider = await getShared();
    const heard: unknown[] = [];
    const result = await call(
      provider,
      "SpeakerSkill.speak",
      { word: "hello" },
      {
        settings: { colour: "blue" },
        secrets: { apiKey: "s3cret" },
        log: (...words) => heard.push(words),
        progress: (...steps) => heard.push(steps),
      },
    );
    expect(result).toEqual({
      caller: { id: "ada", permissions: ["call:*"] },
      runId: "run",
      callId: "run/1",
      settings: { colour: "blue" },
      secrets: { apiKey: "s3cret" },
      aborted: false,
    });
    expect(heard).toEqual([
      ["warn", "hello"],
      [1, 3, "a third"],
    ]);
  });

  test("keeps JSON values in the skill's store between calls [L3]", async () => {
    const provider = await getShared();
    const store = createStore().space("test");
    const ask = (method: string, input: Record<string, unknown> = {}) =>
      call(provider, `KeeperSkill.${method}`, input, { store });
    await ask("keep", { key: "a/1", value: { deep: [1, null] } });
    await ask("keep", { key: "b", value: "text" });
    await expect(ask("read", { key: "a/1" })).resolves.toEqual({ deep: [1, null] });
    await expect(ask("list", { prefix: "a/" })).resolves.toEqual([["a/1", { deep: [1, null] }]]);
    await expect(Promise.all([ask("drop", { key: "b" }), ask("drop", { key: "none" })])).resolves.toEqual([
      true,
      false,
    ]);
    await expect(ask("read", { key: "b" })).resolves.toBe("nothing");
    await expect(ask("misuse")).rejects.toThrow("could not be cloned");
  });

  test("sends requests to the calling client that it supports [L3]", async () => {
    const provider = await getShared();
    const asked: unknown[] = [];
    const client: Client = {
      can: (request) => request === "elicitation/create",
      async ask(...question) {
        asked.push(question);
        return { action: "accept", content: { seat: "12A" } };
      },
    };
    const ask = (method: string, input = {}) => call(provider, `SeatsSkill.${method}`, input, { client });
    await expect(ask("choose")).resolves.toEqual({ action: "accept", content: { seat: "12A" } });
    expect(asked).toEqual([
      ["elicitation/create", { message: "Which seat?", requestedSchema: { type: "object", properties: {} } }, "seat"],
    ]);
    await expect(call(provider, "SeatsSkill.choose")).resolves.toBe("none");
    await expect(ask("sample")).rejects.toThrow(
      "Cannot ask the client: the client does not support sampling/createMessage (CLIENT_UNABLE)",
    );
    await expect(ask("odd", { what: "tools/list" })).rejects.toThrow("the client does not support tools/list");
    await expect(ask("misuse")).rejects.toThrow("could not be cloned");
    const silent: Client = { ...client, ask: () => Promise.reject(new Error("the client has gone")) };
    await expect(call(provider, "SeatsSkill.choose", {}, { client: silent })).rejects.toThrow("the client has gone");
  });

  test("isolates a skill in a separate process [L10]", async () => {
    const pid = `export function pid() { return process.pid; }`;
    const provider = await loadFiles(
      {
        "alone.ts": `${pid} export function kill() { process.kill(process.pid, "SIGKILL"); }`,
        "beside.ts": pid,
        "defined.ts": `
          import { defineSkill } from "skillgate";
          export default defineSkill({
            name: "OwnSkill", description: "Own", methods: { pid: { description: "Pid", run: () => process.pid } },
          });
        `,
        "shared.ts": pid,
      },
      { isolated: ["AloneSkill", "OwnSkill"] },
    );
    const getPid = (skill: string) => call(provider, `${skill}.pid`);
    const before = await Promise.all(["AloneSkill", "OwnSkill", "BesideSkill", "SharedSkill"].map(getPid));
    expect(new Set(before).size).toBe(3);
    expect(before[2]).toBe(before[3]);
    await expect(call(provider, "AloneSkill.kill")).rejects.toThrow(/"AloneSkill\.kill" did not finish/);
    await expect(getPid("BesideSkill")).resolves.toBe(before[2]);
    await expect(getPid("AloneSkill")).resolves.not.toBe(before[0]);
  });

  test("passes arguments as declared: positions, defaults, dates and rest [L3]", async () => {
    const provider = await getShared();
    await expect(call(provider, "ArgsSkill.given", { a: "x" })).resolves.toEqual(["x", 2, undefined, 1]);
    await expect(call(provider, "ArgsSkill.given", { c: 5, a: "x" })).resolves.toEqual(["x", 2, 5, 3]);
    await expect(
      call(provider, "ArgsSkill.dated", { at: "2020-01-01T00:00:00Z", link: "https://example.com/a" }),
    ).resolves.toEqual([true, 2020, "example.com"]);
    await expect(call(provider, "ArgsSkill.many", { first: "x", others: [1, 2] })).resolves.toEqual(["x", [1, 2]]);
    await expect(call(provider, "ArgsSkill.object", { a: 1 })).resolves.toEqual([1, 3, "ada"]);
    const bytes = await call(provider, "ArgsSkill.bytes", { data: new Uint8Array([1, 2]) });
    expect([...(bytes as Uint8Array)]).toEqual([2, 4]);
  });

  test("leaves no process and refuses calls after close [L10]", { tags: "rest" }, async () => {
    const provider = await loadFiles({
      "a.ts": "export const pid = () => process.pid;\nexport const wait = () => new Promise(() => {});",
    });
    const pid = (await call(provider, "ASkill.pid")) as number;
    const waiting = call(provider, "ASkill.wait");
    const closed = expect(waiting).rejects.toMatchObject({ code: "RUNTIME_CLOSED" });
    await provider.close();
    await closed;
    await expect(call(provider, "ASkill.pid")).rejects.toMatchObject({ code: "RUNTIME_CLOSED" });
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  });
});

test(
  "ends the skills when the runtime is killed, even if their exit handlers block [L10]",
  { tags: "rest" },
  async () => {
    const folder = await temporaryFolder();
    await writeFiles(folder, {
      "skills/staying.ts": `
      process.on("exit", () => { for (;;); });
      process.on("SIGTERM", () => {});
      setInterval(() => {}, 1_000);
      export const pid = () => process.pid;`,
    });
    const library = new URL("../../../dist/src/index.js", import.meta.url).href;
    const program = `
    const { createRuntime } = await import(${JSON.stringify(library)});
    const runtime = await createRuntime({ skillsDir: ${JSON.stringify(join(folder, "skills"))} });
    console.log(await runtime.call("StayingSkill.pid", {}));
    setInterval(() => {}, 1_000);`;
    const host = spawn(process.execPath, ["--input-type=module", "-e", program], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = (await once(host.stdout, "data")) as [Buffer];
    const pid = Number(line.toString());
    expect(process.kill(pid, 0)).toBe(true);
    host.kill("SIGKILL");
    await expect.poll(() => isThere(pid), { timeout: 10_000 }).toBe(false);
  },
);

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe("isolation", () => {
  test(
    "reports a skill whose module does not start again, and keeps the others working [L10]",
    { tags: "rest" },
    async () => {
      const folder = {
        "once.ts":
          'import { existsSync, writeFileSync } from "node:fs";\nconst mark = new URL("./mark", import.meta.url);\nif (existsSync(mark)) throw new Error("not twice");\nwriteFileSync(mark, "");\nexport const here = () => true;',
      };
      const provider = await loadFiles({ ...folder, "misbehaving.ts": misbehaving });
      await expect(call(provider, "OnceSkill.here")).resolves.toBe(true);
      await expect(call(provider, "MisbehavingSkill.kill")).rejects.toThrow();
      await expect(call(provider, "OnceSkill.here")).rejects.toMatchObject({
        code: "CALL_FAILED",
        message: 'Cannot complete the call: "OnceSkill.here" could not start: not twice (CALL_FAILED)',
      });
      await expect(call(provider, "MisbehavingSkill.until", { ms: 1 })).resolves.toBe("done");
    },
  );
});
