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
