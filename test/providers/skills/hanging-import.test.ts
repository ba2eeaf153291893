import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { call, load, temporaryFolder, writeFiles } from "./call.ts";

const GREET = "export const greet = (): string => 'hello';\n";
/** No test waits this long: an import that counts on it never ends. */
const ENDLESS_MS = 3_600_000;

const HANG =
  "Cannot load the skill: at import, it did not finish within 1 s; it is imported only when one of its methods is called, or when it changes (SKILL_INVALID)";

test(
  "remembers a file that hangs at import, which then delays only its own calls [L6, L10]",
  { tags: "rest" },
  async () => {
    const folder = await temporaryFolder();
    const cacheDir = join(folder, "cache");
    const skills = join(folder, "skills");
    await writeFiles(skills, { "hang.ts": `await new Promise(() => {});\n${GREET}`, "well.ts": GREET });
    const first = await load(skills, { cacheDir, importTimeoutMs: 1_000 });
    expect(first.problems).toEqual([{ source: "hang.ts", error: HANG }]);
    await expect(call(first, "WellSkill.greet")).resolves.toBe("hello");
    const second = await load(skills, { cacheDir, importTimeoutMs: ENDLESS_MS });
    expect(second.skills.map(({ name }) => name)).toEqual(["HangSkill", "WellSkill"]);
    const hanging = call(second, "HangSkill.greet").catch((error: unknown) => error);
    await expect(call(second, "WellSkill.greet")).resolves.toBe("hello");
    expect(await second.health()).toMatchObject([{ skill: "HangSkill", healthy: false }, { healthy: true }]);
    await second.close();
    await expect(hanging).resolves.toMatchObject({ code: "CALL_FAILED" });
    const third = await load(skills, { cacheDir, importTimeoutMs: 1_000 });
    await expect(call(third, "HangSkill.greet")).rejects.toThrow(
      '"HangSkill.greet" could not start: at import, it did not finish within 1 s',
    );
    await writeFile(join(skills, "hang.ts"), GREET);
    const repaired = await load(skills, { cacheDir });
    expect(repaired.problems).toEqual([]);
  },
);

test("imports a file that hung as usual again, once a call has imported it [L6]", { tags: "rest" }, async () => {
  const folder = await temporaryFolder();
  const [cacheDir, flag] = [join(folder, "cache"), join(folder, "flag")];
  const waits = `import { existsSync } from "node:fs";\nwhile (!existsSync(${JSON.stringify(flag)})) {}\n${GREET}`;
  await writeFiles(join(folder, "skills"), { "wait.ts": waits });
  const first = await load(join(folder, "skills"), { cacheDir, importTimeoutMs: 1_000 });
  expect(first.problems).toHaveLength(1);
  await writeFile(flag, "");
  const second = await load(join(folder, "skills"), { cacheDir });
  expect(second.problems).toHaveLength(1);
  await expect(call(second, "WaitSkill.greet")).resolves.toBe("hello");
  const third = await load(join(folder, "skills"), { cacheDir });
  expect(third.problems).toEqual([]);
});

test("says so of a file whose skills are known only after its import [L4]", { tags: "rest" }, async () => {
  const folder = await temporaryFolder();
  const defined = `import { defineSkill } from "skillgate";\nexport default make();\nfunction make() { for (;;) {} }\n`;
  await writeFiles(join(folder, "skills"), { "made.ts": defined });
  for (const importTimeoutMs of [1_000, ENDLESS_MS]) {
    const { problems, skills } = await load(join(folder, "skills"), {
      cacheDir: join(folder, "cache"),
      importTimeoutMs,
    });
    expect(skills).toEqual([]);
    expect(problems).toMatchObject([
      { error: expect.stringContaining("it is imported again when it changes, or after a day") },
    ]);
  }
});

test(
  "says after a second of an import in which file it is, and how long others wait for it [L6]",
  { tags: "rest" },
  async () => {
    const folder = await temporaryFolder();
    const skills = join(folder, "skills");
    await writeFiles(skills, { "hang.ts": `await new Promise(() => {});\n${GREET}`, "well.ts": GREET });
    const lines: string[] = [];
    const log = (level: string, text: string): unknown => lines.push(`${level}: ${text}`);
    await load(skills, { cacheDir: join(folder, "cache"), importTimeoutMs: 2_000, log });
    expect(lines).toEqual(["warn: Waiting for the import of HangSkill (hang.ts), for up to 2 s"]);
  },
);

/** A file whose import computes until a flag exists. */
function writeSpin(flag: string): string {
  return `import { existsSync } from "node:fs";\nwhile (!existsSync(${JSON.stringify(flag)})) {}\n${GREET}`;
}

test("imports a file that takes long in a process of its own, beside others [L6, L10]", { tags: "rest" }, async () => {
  const folder = await temporaryFolder();
  const [skills, cacheDir, flag] = [join(folder, "skills"), join(folder, "cache"), join(folder, "flag")];
  await writeFiles(skills, { "spin.ts": writeSpin(flag), "well.ts": GREET });
  const first = await load(skills, { cacheDir, importTimeoutMs: ENDLESS_MS });
  expect(first.skills.map(({ name }) => name)).toEqual(["SpinSkill", "WellSkill"]);
  expect(first.problems).toEqual([]);
  await expect(call(first, "WellSkill.greet")).resolves.toBe("hello");
  const waiting = call(first, "SpinSkill.greet");
  expect(await first.health()).toMatchObject([{ skill: "SpinSkill", healthy: false }, { healthy: true }]);
  const imported = new Promise<void>((resolve) => first.onChange?.(resolve));
  await writeFile(flag, "");
  await expect(waiting).resolves.toBe("hello");
  await imported;
  expect(await first.health()).toMatchObject([{ healthy: true }, { healthy: true }]);
  await rm(flag);
  const second = await load(skills, { cacheDir, importTimeoutMs: ENDLESS_MS });
  await expect(call(second, "WellSkill.greet")).resolves.toBe("hello");
});

test("names a file that takes long at import and does not end [L6, L10]", { tags: "rest" }, async () => {
  const folder = await temporaryFolder();
  const skills = join(folder, "skills");
  await writeFiles(skills, { "hang.ts": `await new Promise(() => {});\n${GREET}`, "well.ts": GREET });
  const provider = await load(skills, { cacheDir: join(folder, "cache"), importTimeoutMs: 3_000 });
  expect(provider.problems).toEqual([]);
  await new Promise<void>((resolve) => provider.onChange?.(resolve));
  expect(provider.problems).toEqual([{ source: "hang.ts", error: HANG.replace("1 s", "3 s") }]);
});

test("moves a file that takes long only in a later process [L6, L10]", { tags: "rest" }, async () => {
  const folder = await temporaryFolder();
  const [skills, cacheDir, flag] = [join(folder, "skills"), join(folder, "cache"), join(folder, "flag")];
  await writeFiles(skills, { "spin.ts": writeSpin(flag), "well.ts": GREET });
  await writeFile(flag, "");
  await (await load(skills, { cacheDir })).close();
  await rm(flag);
  const second = await load(skills, { cacheDir, defersImports: true, importTimeoutMs: ENDLESS_MS });
  const waiting = call(second, "SpinSkill.greet");
  await expect(call(second, "WellSkill.greet")).resolves.toBe("hello");
  await writeFile(flag, "");
  await expect(waiting).resolves.toBe("hello");
});

test(
  "waits for a file that takes long if only its import tells all about its skills [L6, L9]",
  { tags: "rest" },
  async () => {
    const folder = await temporaryFolder();
    const [skills, flag] = [join(folder, "skills"), join(folder, "flag")];
    const settings = `export const settings = { type: "object", properties: { unit: { type: "string" } } };\n`;
    await writeFiles(skills, { "spin.ts": `${settings}${writeSpin(flag)}`, "well.ts": GREET });
    const slow = "Waiting for the import of SpinSkill (spin.ts), for up to 3600 s";
    const log = (_: string, text: string): unknown => text === slow && writeFile(flag, "");
    const provider = await load(skills, { cacheDir: join(folder, "cache"), importTimeoutMs: ENDLESS_MS, log });
    expect(provider.skills[0]).toMatchObject({
      name: "SpinSkill",
      settings: { properties: { unit: { type: "string" } } },
    });
  },
);

test("ends no call of another skill when an import takes long [L10]", { tags: "rest" }, async () => {
  const folder = await temporaryFolder();
  const [skills, flag] = [join(folder, "skills"), join(folder, "flag")];
  const wait = `async (): Promise<string> => {\n  while (!existsSync(${JSON.stringify(flag)})) await new Promise((next) => setTimeout(next, 5));\n  return "waited";\n}`;
  await writeFiles(skills, { "calls.ts": `import { existsSync } from "node:fs";\nexport const wait = ${wait};\n` });
  const provider = await load(skills, { cacheDir: join(folder, "cache"), watch: true });
  const waiting = call(provider, "CallsSkill.wait");
  const added = new Promise<void>((resolve) => provider.onChange?.(resolve));
  await writeFile(join(skills, "slow.ts"), `await new Promise((next) => setTimeout(next, 3_000));\n${GREET}`);
  await added;
  expect(provider.skills.map(({ name }) => name)).toEqual(["CallsSkill", "SlowSkill"]);
  await writeFile(flag, "");
  await expect(waiting).resolves.toBe("waited");
});
