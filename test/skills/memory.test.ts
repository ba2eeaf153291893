import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { MemorySkill } from "../../skills/memory.ts";
import { createRuntime } from "../../src/index.ts";
import { createStore } from "../../src/store/index.ts";
import { createTestContext } from "../providers/skills/call.ts";

const folder = mkdtempSync(join(tmpdir(), "skillgate-memory-"));

afterAll(() => rmSync(folder, { recursive: true }));

/** A memory in which each note is a second younger than the one before. */
function memory() {
  const store = createStore().space("test");
  let seconds = 0;
  const skill = new MemorySkill(() => new Date(1_000 * seconds++));
  const createContext = (id: string) => ({ ...createTestContext(), store, caller: { id, permissions: [] } });
  return {
    remember: (text: string, tags?: string[], importance?: number, caller = "ada") =>
      skill.remember(text, tags, importance, createContext(caller)),
    search: async (query: string, caller = "ada") =>
      (await skill.search(query, createContext(caller))).map(({ text }) => text),
    forget: (id: string, caller = "ada") => skill.forget(id, createContext(caller)),
  };
}

test("stores a note unchanged, with an id for deletion [B4]", async () => {
  const { remember, search, forget } = memory();
  const note = await remember("  Ada prefers trains ", ["travel"], 7);
  expect(note).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{8}$/),
    text: "Ada prefers trains",
    tags: ["travel"],
    importance: 7,
    created: "1970-01-01T00:00:00.000Z",
  });
  expect(await search("TRAINS")).toEqual(["Ada prefers trains"]);
  expect([await forget(note.id), await forget(note.id), await search("trains")]).toEqual([true, false, []]);
});

test("lists notes with all keywords before others; without such, those with any [B4]", async () => {
  const { remember, search } = memory();
  await remember("red apples");
  await remember("green apples", [], 9);
  await remember("red wine");
  expect(await search("red apple")).toEqual(["red apples"]);
  expect(await search("red grapes")).toEqual(["red wine", "red apples"]);
  expect(await search("grapes")).toEqual([]);
});

test("lists the most important notes first, then the newest; at most five [B4]", async () => {
  const { remember, search } = memory();
  for (const [text, importance] of [
    ["a", 5],
    ["b", 9],
    ["c", 5],
    ["d", 1],
    ["e", 5],
    ["f", 2],
  ] as const)
    await remember(`note ${text}`, [], importance);
  expect(await search("note")).toEqual(["note b", "note e", "note c", "note a", "note f"]);
});

test("finds tags, not parts of words, by at most five keywords [B4]", async () => {
  const { remember, search } = memory();
  await remember("The information", ["desk"]);
  expect([await search("desk"), await search("on"), await search("inform")]).toEqual([
    ["The information"],
    [],
    ["The information"],
  ]);
  expect(await search("the information desk the information desk desk the x y z")).toEqual(["The information"]);
});

test("hides the notes of a caller from other callers [B4]", async () => {
  const { remember, search, forget } = memory();
  const { id } = await remember("secret of ada", [], 5, "ada");
  await remember("secret of ada/x", [], 5, "ada/x");
  expect([await search("secret", "bob"), await forget(id, "bob"), await search("secret", "ada")]).toEqual([
    [],
    false,
    ["secret of ada"],
  ]);
});

test.each([
  [() => memory().remember("  "), "No text to remember provided"],
  [() => memory().remember("x".repeat(10_001)), "The text is too long (max 10000 characters)"],
  [() => memory().remember("x", [], 11), "importance must be from 1 to 10"],
  [() => memory().search(" ,. "), "No keywords provided"],
])("%# reports an invalid value [B4]", async (run, message) => {
  await expect(run()).rejects.toThrow(message);
});

test("remembers in the runtime's store, from one runtime to the next [B4]", { tags: "rest" }, async () => {
  const options = { skillsDir: "skills", store: join(folder, "store") };
  const first = await createRuntime(options);
  const remembered = await first.run(
    `await device.MemorySkill.remember("Ada prefers trains", ["travel"]); await device.MemorySkill.search("train")`,
    { caller: { id: "ada", permissions: ["call:MemorySkill.*"] } },
  );
  expect(remembered).toMatchObject({ kind: "completed", value: [{ text: "Ada prefers trains", importance: 5 }] });
  await first.close();
  const second = await createRuntime(options);
  const found = (id: string) =>
    second.call("MemorySkill.search", { query: "travel" }, { caller: { id, permissions: ["call:*"] } });
  await expect(found("ada")).resolves.toMatchObject([{ text: "Ada prefers trains" }]);
  await expect(found("bob")).resolves.toEqual([]);
  await second.close();
});

test("refuses more than 500 notes of a caller, and names notes to delete [B4]", { tags: "rest" }, async () => {
  const { remember, forget } = memory();
  const first = await remember("the oldest of little importance", [], 2);
  await remember("important", [], 9);
  await Promise.all(Array.from({ length: 498 }, (_, index) => remember(`note ${index}`, [], 2)));
  await expect(remember("one more")).rejects.toThrow(
    `500 notes are remembered (max 500). Forget some first, such as the least important: "${first.id}" (the oldest of little importance), `,
  );
  await expect(remember("of another caller", [], 5, "bob")).resolves.toMatchObject({ importance: 5 });
  await forget(first.id);
  await expect(remember("one more")).resolves.toMatchObject({ text: "one more" });
});

test("refuses more than a megabyte of notes of a caller, including their tags [B4]", async () => {
  const { remember } = memory();
  await remember("first", ["x".repeat(1_000_000)]);
  await expect(remember("x".repeat(10_000), ["y".repeat(50_000)])).rejects.toThrow(
    /^The notes would have \d{7} bytes \(max 1048576\)\. Forget some first, such as the least important: "[0-9a-f]{8}" \(first\)$/,
  );
  await expect(remember("second")).resolves.toMatchObject({ text: "second" });
});
