import { EventEmitter, once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { tokenFile } from "../../../../src/providers/mcp/oauth/token-file.ts";

test("keeps a change of a returned token value from the next reader [M7]", async () => {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-tokens-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const store = tokenFile(join(folder, "tokens.json"));
  await store.set("key", { token: "a" });
  Object.assign((await store.get("key")) as object, { token: "b" });
  expect(await store.get("key")).toEqual({ token: "a" });
});

test("loses no login while another process forgets one [M7]", async () => {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-tokens-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  // Two stores of one file share only the file, as those of two processes do.
  const open = () => tokenFile(join(folder, "tokens.json"));
  const [one, other] = [open(), open()];
  const names = Array.from({ length: 20 }, (_, at) => `login ${at}`);
  const forgetting = names.map(() => one.delete("login of before"));
  const saving = names.map((name) => other.set(name, { token: name }));
  await Promise.all([...forgetting, ...saving]);
  expect(await Promise.all(names.map((name) => one.get(name)))).toEqual(names.map((token) => ({ token })));
});

test("holds up only the work of the same key, also in another process [M7]", async () => {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-tokens-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [one, other] = [tokenFile(join(folder, "tokens.json")), tokenFile(join(folder, "tokens.json"))];
  const events = new EventEmitter();
  const [started, ended] = [once(events, "started"), once(events, "ended")];
  const done: string[] = [];
  const slow = one.exclusively("a", async () => {
    events.emit("started");
    await ended;
    done.push("slow");
  });
  await started;
  const waiting = other.exclusively("a", async () => done.push("same key"));
  await one.exclusively("b", async () => done.push("same process"));
  await other.exclusively("c", async () => done.push("other process"));
  events.emit("ended");
  await Promise.all([slow, waiting]);
  expect(done).toEqual(["same process", "other process", "slow", "same key"]);
});
