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
