import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { describe, expect, onTestFinished, test } from "vitest";

import { defineSkill } from "../../src/index.ts";
import { type TestedSkill, testSkill, type TestOptions } from "../../src/testing/index.ts";
import { temporaryFolder, writeFiles } from "../providers/skills/call.ts";

const WEATHER = `
  export class WeatherSkill {
    async now(city: string, context: CallContext): Promise<string> {
      context.log("info", "asked for " + city);
      await context.store.set("last", city);
      return [city, context.settings.unit, context.secrets.apiKey, context.caller.id].join(" ");
    }
    async last(context: CallContext): Promise<string> { return (await context.store.get("last")) ?? "none"; }
    /** @approval user */
    pay(amount: number): number { return amount; }
  }
  export class OtherSkill { ping(): string { return "pong"; } }
`;

async function opened(source: Parameters<typeof testSkill>[0], options?: TestOptions): Promise<TestedSkill> {
  const skill = await testSkill(source, options);
  onTestFinished(() => skill.close());
  return skill;
}

async function folderWith(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await temporaryFolder();
  await writeFiles(folder, files);
  return folder;
}

describe("testSkill", () => {
  test("calls the methods of a file as a model would, with settings, secrets and a store [L11]", async () => {
    const folder = await folderWith({ "weather.ts": WEATHER, "broken.ts": "export class {" });
    const skill = await opened(pathToFileURL(join(folder, "weather.ts")), {
      settings: { unit: "K" },
      secrets: { apiKey: "k" },
      caller: { id: "ada", permissions: ["call:*"] },
    });
    expect([skill.name, skill.methods, skill.problems]).toEqual(["WeatherSkill", ["now", "last", "pay"], []]);
    expect(await skill.call("last")).toBe("none");
    expect(await skill.call("now", { city: "Oslo" })).toBe("Oslo K k ada");
    expect(await skill.run('device.WeatherSkill.now("Rome") + "!"')).toBe("Rome K k ada!");
    expect(await skill.call("WeatherSkill.last")).toBe("Rome");
    expect(await skill.call("OtherSkill.ping")).toBe("pong");
    expect(skill.logged).toEqual(["info: asked for Oslo", "info: asked for Rome"]);
  });

  test("rejects with the errors that a model receives [L11]", async () => {
    const folder = await folderWith({ "weather/skill.ts": WEATHER });
    const skill = await opened(join(folder, "weather"), { skill: "WeatherSkill", approve: () => false });
    await expect(skill.call("now", { town: "Oslo" })).rejects.toMatchObject({ code: "ARGUMENTS_INVALID" });
    await expect(skill.run("device.WeatherSkill.noww()")).rejects.toThrow("METHOD_UNKNOWN");
    await expect(skill.call("pay", { amount: 1 })).rejects.toMatchObject({ code: "APPROVAL_MISSING" });
    await expect(skill.call("last", {}, { caller: { id: "bob", permissions: ["see:*"] } })).rejects.toMatchObject({
      code: "PERMISSION_MISSING",
    });
  });

  test("accepts the entry of a folder, and a defined skill [L11]", async () => {
    const folder = await folderWith({
      "hello/index.ts": "export const hello = (name: string): string => 'Hello ' + name;",
    });
    const fromFile = await opened(join(folder, "hello/index.ts"));
    expect([fromFile.name, await fromFile.call("hello", { name: "Ada" })]).toEqual(["HelloSkill", "Hello Ada"]);
    const PingSkill = defineSkill({
      name: "PingSkill",
      description: "",
      methods: { ping: { description: "Ping", run: async () => "pong" } },
    });
    expect(await (await opened(PingSkill)).run("device.PingSkill.ping()")).toBe("pong");
  });

  test("reports why a module cannot be loaded [L11]", async () => {
    const folder = await folderWith({ "broken.ts": "export class BrokenSkill {", "weather.ts": WEATHER });
    await expect(testSkill(join(folder, "broken.ts"))).rejects.toMatchObject({
      code: "SKILL_INVALID",
      message: expect.stringContaining(
        "Cannot load the skill: line 1, column 27: Unexpected token (SKILL_INVALID)\n> 1 | export class",
      ),
    });
    await expect(testSkill(join(folder, "none.ts"))).rejects.toThrow("there is no file none.ts");
    await expect(testSkill(join(folder, "weather.ts"), { skill: "WetherSkill" })).rejects.toThrow(
      'the module has no skill "WetherSkill"; it has WeatherSkill, OtherSkill',
    );
  });

  test("is exported by the package, and does not keep a program alive [L11]", { tags: "rest" }, async () => {
    const folder = await folderWith({ "weather.ts": WEATHER });
    const program = `
      import { testSkill } from "skillgate/testing";
      const { call } = await testSkill(${JSON.stringify(join(folder, "weather.ts"))}, { skill: "OtherSkill" });
      console.log(await call("ping"));
    `;
    const { stdout, stderr, status } = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
      encoding: "utf8",
      timeout: 20_000,
    });
    expect({ stdout, stderr, status }).toEqual({ stdout: "pong\n", stderr: "", status: 0 });
  });
});

test(
  "shares one process among the skills of a folder, and gives a file that is open another one [L11]",
  { tags: "rest" },
  async () => {
    const text = `
    let calls = 0;
    export function use(): readonly number[] { return [process.pid, ++calls]; }
    export function say(): void { console.log("used"); }
  `;
    const folder = await folderWith({ "one.ts": text, "two/skill.ts": text });
    const use = async (skill: TestedSkill): Promise<readonly number[]> =>
      (await skill.call("use")) as readonly number[];
    const [one, two] = await Promise.all([opened(join(folder, "one.ts")), opened(join(folder, "two"))]);
    const again = await opened(join(folder, "two/skill.ts"));
    const [pid] = await use(one);
    expect(await use(two)).toEqual([pid, 1]);
    expect(await use(two)).toEqual([pid, 2]);
    const [other, calls] = await use(again);
    expect([other === pid, calls]).toEqual([false, 1]);
    await Promise.all([one, two].map((skill) => skill.call("say")));
    expect([one, two, again].map(({ logged }) => logged)).toEqual([["info: used"], ["info: used"], []]);
    await two.close();
    expect(await use(one)).toEqual([pid, 2]);
    await one.close();
    expect((await use(await opened(join(folder, "one.ts"))))[0]).not.toBe(pid);
  },
);

test(
  "runs a skill in the process of the test, with its store, log, errors and stacks [L10, L11]",
  { tags: "rest" },
  async () => {
    const folder = await folderWith({
      "where.ts": `
  export async function where(context: CallContext): Promise<number> {
    context.log("info", "asked");
    await context.store.set("asked", true);
    return (await context.store.get("asked")) ? process.pid : 0;
  }
  export function fail(): void { throw new TypeError("no"); }
  /** @timeout 1ms */
  export async function late(): Promise<string> {
    await new Promise((resolve) => setTimeout(resolve, 500));
    return "late";
  }
`,
    });
    const skill = await opened(join(folder, "where.ts"), { inProcess: true });
    expect(await skill.call("where")).toBe(process.pid);
    expect(skill.logged).toEqual(["info: asked"]);
    expect(await skill.run("device.WhereSkill.late()")).toBe("late");
    await expect(skill.call("fail")).rejects.toMatchObject({ message: "no" });
    const apart = await opened(join(folder, "where.ts"));
    expect(await apart.call("where")).not.toBe(process.pid);
    await expect(apart.call("late")).rejects.toMatchObject({ code: "CALL_TIMEOUT" });
  },
);

test("answers the requests of a skill with an account in place of its service", async () => {
  const skill = await opened(
    defineSkill({
      name: "NotesSkill",
      description: "Notes",
      accounts: ["notes"],
      methods: {
        list: {
          description: "List",
          run: async (_input, context) =>
            (await context.account("notes").fetch("https://notes.example/all", { method: "POST" })).json(),
        },
        other: { description: "Other", run: (_input, context) => context.account("other").fetch("https://a.example") },
      },
    }),
    { accounts: { notes: (url, { method }) => ({ body: { url, method } }) } },
  );
  expect(await skill.call("list")).toEqual({ url: "https://notes.example/all", method: "POST" });
  await expect(skill.call("other")).rejects.toThrow("NotesSkill uses the account other and does not declare it");
});
