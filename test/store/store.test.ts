import { fork } from "node:child_process";
import { once } from "node:events";
import { appendFile, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { createStore, type Space } from "../../src/store/index.ts";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "skillgate-store-"));
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

const KINDS: readonly [kind: string, make: () => Space][] = [
  ["in memory", () => createStore().space("notes")],
  ["in a folder", () => createStore(join(folder, "store")).space("notes")],
];

describe.each(KINDS)("a store %s", (_kind, make) => {
  test("stores JSON values by key, and returns copies [L3]", async () => {
    const space = make();
    const value = { list: [1, "zwei", null], deep: { yes: true } };
    await space.set("a", value);
    value.list.push("later");
    const first = (await space.get("a")) as { list: unknown[] };
    first.list.length = 0;
    expect(await space.get("a")).toEqual({ list: [1, "zwei", null], deep: { yes: true } });
    expect(await space.get("b")).toBeUndefined();
  });

  test("lists the keys with a prefix, in order [L3]", async () => {
    const space = make();
    for (const key of ["b/2", "a", "b/10", "c", "__proto__"]) await space.set(key, key);
    expect(await space.entries("b/")).toEqual([
      ["b/10", "b/10"],
      ["b/2", "b/2"],
    ]);
    expect((await space.entries()).map(([key]) => key)).toEqual(["__proto__", "a", "b/10", "b/2", "c"]);
  });

  test("reports whether it deleted a key [L3]", async () => {
    const space = make();
    await space.set("a", 1);
    expect([await space.delete("a"), await space.delete("a"), await space.get("a")]).toEqual([true, false, undefined]);
    expect(await space.size()).toBe(0);
  });

  test("refuses a value that is not JSON, and keeps the old value [L3]", async () => {
    const space = make();
    await space.set("a", 1);
    await expect(space.set("a", undefined)).rejects.toThrow('The value of "a" is not JSON');
    expect(await space.get("a")).toBe(1);
  });

  test("keeps all simultaneous changes [X6]", async () => {
    const space = make();
    const more = (count: unknown): number => (typeof count === "number" ? count + 1 : 1);
    await Promise.all(Array.from({ length: 50 }, () => space.update("count", more)));
    expect(await space.get("count")).toBe(50);
  });
});

describe("a store in a folder", () => {
  test("is found again by the next store; no name leaves the folder [B4]", async () => {
    for (const name of ["notes", "../notes", "a/b", "", ".", "skill Tag"]) {
      await createStore(folder).space(name).set("name", name);
    }
    for (const name of ["notes", "../notes", "a/b", "", ".", "skill Tag"]) {
      expect(await createStore(folder).space(name).get("name")).toBe(name);
    }
    expect(await readdir(folder)).toHaveLength(6);
  });

  test("shows each store the changes of the others [B4]", async () => {
    const [one, other] = [createStore(folder).space("notes"), createStore(folder).space("notes")];
    await one.set("a", 1);
    expect(await other.get("a")).toBe(1);
    await other.set("a", 2);
    await other.delete("b");
    expect(await one.get("a")).toBe(2);
  });

  test("skips a partial line and writes the next one completely [B4]", async () => {
    const file = join(folder, "notes.jsonl");
    await createStore(folder).space("notes").set("a", 1);
    await appendFile(file, '{"key":"b","va');
    const space = createStore(folder).space("notes");
    expect(await space.entries()).toEqual([["a", 1]]);
    await space.set("c", 3);
    expect(await createStore(folder).space("notes").entries()).toEqual([
      ["a", 1],
      ["c", 3],
    ]);
  });

  test("makes several changes at once, or none of them", async () => {
    const file = join(folder, "notes.jsonl");
    const space = createStore(folder).space("notes");
    await space.set("a", 1);
    const made = await space.change((content) => {
      content.put("b", content.get("a"));
      content.put("c", content.size);
      return content.delete("a");
    });
    expect(made).toBe(true);
    const other = createStore(folder).space("notes");
    expect(await other.entries()).toEqual([
      ["b", 1],
      ["c", 4],
    ]);
    const whole = await readFile(file, "utf8");
    expect(whole.trimEnd().split("\n")).toHaveLength(2);
    // A process that dies while it writes leaves a part of the line.
    await writeFile(file, whole.slice(0, -10));
    expect(await createStore(folder).space("notes").entries()).toEqual([["a", 1]]);
    const fail = (): Promise<unknown> =>
      other.change(() => {
        throw new Error("no space");
      });
    await expect(fail()).rejects.toThrow("no space");
    expect(await other.entries()).toEqual([["a", 1]]);
  });

  test("compacts a file with old values, also while others read it [B4]", async () => {
    const [one, other] = [createStore(folder).space("notes"), createStore(folder).space("notes")];
    for (let round = 0; round < 40; round++) await one.set("big", `${round} ${"x".repeat(5_000)}`);
    expect(String(await other.get("big")).slice(0, 2)).toBe("39");
    expect((await stat(join(folder, "notes.jsonl"))).size).toBeLessThan(100_000);
    await one.set("big", "small");
    expect(await other.get("big")).toBe("small");
  });

  test("waits for its changes when it is closed, and refuses later ones [X6]", async () => {
    const store = createStore(folder);
    const space = store.space("notes");
    const written: string[] = [];
    void space.set("a", 1).then(() => written.push("a"));
    await store.close();
    expect(written).toEqual(["a"]);
    const closed = { code: "STORE_UNAVAILABLE", message: expect.stringContaining("it was closed") };
    await expect(space.set("b", 2)).rejects.toMatchObject(closed);
    await expect(store.space("others").set("b", 2)).rejects.toMatchObject(closed);
    expect(await space.entries()).toEqual([["a", 1]]);
    expect(await readdir(folder)).toEqual(["notes.jsonl"]);
  });

  test("ignores the lock of a process that has ended, and respects that of a live one [X8]", async () => {
    const space = createStore(folder, 500).space("notes");
    await space.set("a", 1);
    const child = fork(join(folder, "none.js"), { stdio: "ignore" });
    await once(child, "exit");
    await writeFile(join(folder, "notes.jsonl.lock"), String(child.pid));
    await space.set("a", 2);
    await writeFile(join(folder, "notes.jsonl.lock"), String(process.ppid));
    await expect(space.set("a", 3)).rejects.toThrow(
      'Timed out waiting for the store: "notes.jsonl.lock" is still held by another process after 500 ms (LOCK_TIMEOUT)',
    );
    expect(await space.get("a")).toBe(2);
    expect(await readFile(join(folder, "notes.jsonl"), "utf8")).not.toContain("3");
  });
});
