import { describe, expect, test } from "vitest";

import { maskEntry } from "../../../src/config/index.ts";
import { restoreSecrets } from "../../../src/surfaces/console/restore-secrets.ts";

const ENTRY = {
  command: "node",
  args: ["server.js", "--api-key", "key-0123456789abcdef"],
  env: { API_TOKEN: "s3cret-value-1234", HOST: "${HOST}" },
};

/** The entry as a browser receives it. */
function mask(entry: object): Record<string, unknown> {
  return maskEntry(entry) as Record<string, unknown>;
}

describe("the secrets of an edited entry", () => {
  test("stay as they are where their mask stays [O2, M10]", () => {
    const masked = mask(ENTRY);
    expect(JSON.stringify(masked)).not.toMatch(/key-0123|s3cret/);
    expect(restoreSecrets(masked, ENTRY)).toEqual(ENTRY);
    expect(restoreSecrets({ ...masked, description: "Reads", args: ["server.js"] }, ENTRY)).toEqual({
      ...ENTRY,
      description: "Reads",
      args: ["server.js"],
    });
  });

  test("can be replaced and removed [O2, M10]", () => {
    const masked = mask(ENTRY);
    expect(restoreSecrets({ ...masked, env: { API_TOKEN: "new" } }, ENTRY)).toEqual({
      ...ENTRY,
      env: { API_TOKEN: "new" },
    });
    expect(restoreSecrets({ ...masked, env: {} }, ENTRY)).toEqual({ ...ENTRY, env: {} });
  });

  test.each([
    ["under another name", { env: { OTHER_TOKEN: "***" } }, "entry.env.OTHER_TOKEN"],
    ["beside other text", { env: { API_TOKEN: "Bearer ***" } }, "entry.env.API_TOKEN"],
    ["in another place", { description: "***" }, "entry.description"],
    ["at another position of args", { args: ["***", "server.js"] }, "entry.args.0"],
  ])("are not put %s, which would move them [O2, M10, V4]", (_, change, path) => {
    expect(() => restoreSecrets({ ...mask(ENTRY), ...change }, ENTRY)).toThrow(
      `${path} has *** in place of a secret that is not known there; write the secret`,
    );
  });

  test("are not put into the entry of a server that has none [O2, M10, V4]", () => {
    expect(() => restoreSecrets({ command: "node", env: { A: "***" } }, { command: "node" })).toThrow(
      "entry.env.A has ***",
    );
    expect(() => restoreSecrets({ command: "***" }, undefined)).toThrow("entry.command has ***");
  });
});
