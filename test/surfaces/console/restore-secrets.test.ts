import { describe, expect, test } from "vitest";

import { maskEntry } from "../../../src/config/index.ts";
import { restoreSecrets } from "../../../src/surfaces/console/restore-secrets.ts";

const ENTRY = {
  command: "node",
  args: ["server.js", "--api-key", "key-0123456789abcdef"],
  env: { API_TOKEN: "s3cret-value-1234", HOST: "${HOST}" },
};

const REMOTE = { url: "https://a.example/mcp", headers: { Authorization: "Bearer s3cret-value-1234" } };

/** The entry as a browser receives it. */
function mask(entry: object): Record<string, unknown> {
  return maskEntry(entry) as Record<string, unknown>;
}

describe("the secrets of an edited entry", () => {
  test("stay as they are where their mask stays [O2, M10]", () => {
    const masked = mask(ENTRY);
    expect(JSON.stringify(masked)).not.toMatch(/key-0123|s3cret/);
    expect(restoreSecrets(masked, ENTRY)).toEqual(ENTRY);
    expect(restoreSecrets({ ...masked, description: "Reads" }, ENTRY)).toEqual({ ...ENTRY, description: "Reads" });
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
  ])("are not put %s, which would move them [O2, M10, V4]", (_, change, path) => {
    expect(() => restoreSecrets({ ...mask(ENTRY), ...change }, ENTRY)).toThrow(
      `${path} has *** in place of a secret that is not known there; write the secret`,
    );
  });

  test.each([
    ["another command", ENTRY, { command: "sh" }, "command"],
    ["other arguments", ENTRY, { args: ["server.js"] }, "args"],
    ["their own arguments in another order", ENTRY, { args: ["***", "server.js"] }, "args"],
    ["an address in place of a command", ENTRY, { url: "https://a.example/" }, "url"],
    ["another origin", REMOTE, { url: "https://evil.example/mcp" }, "url"],
    ["another port", REMOTE, { url: "https://a.example:8443/mcp" }, "url"],
  ])("are not sent to %s [O2, M10, V4]", (_, entry, change, field) => {
    expect(() => restoreSecrets({ ...mask(entry), ...change }, entry)).toThrow(
      `entry.${field} has changed, so *** is not replaced; write every secret of the entry again`,
    );
  });

  test("stay with another path of the same origin, and are not needed for a new command without them [O2, M10]", () => {
    const moved = { ...mask(REMOTE), url: "https://a.example/v2" };
    expect(restoreSecrets(moved, REMOTE)).toEqual({ ...REMOTE, url: "https://a.example/v2" });
    expect(restoreSecrets({ command: "sh" }, ENTRY)).toEqual({ command: "sh" });
  });

  test("are not put into the entry of a server that has none [O2, M10, V4]", () => {
    expect(() => restoreSecrets({ command: "node", env: { A: "***" } }, { command: "node" })).toThrow(
      "entry.env.A has ***",
    );
    expect(() => restoreSecrets({ command: "***" }, undefined)).toThrow("entry.command has changed");
  });
});
