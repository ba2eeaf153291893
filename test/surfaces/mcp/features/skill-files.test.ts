import { createHash } from "node:crypto";

import { expect, test } from "vitest";

import { post } from "../../serving.ts";
import { ERAS } from "../raw-client.ts";
import { serveDescribed } from "./described.ts";

const FOLDER = "skill://clock/";
const digest = (text: string): string => `sha256:${createHash("sha256").update(text).digest("hex")}`;
const skill = (text: string, more: object = {}) => ({
  uri: `${FOLDER}SKILL.md`,
  frontmatter: { name: "clock", description: "x" },
  resources: [{ uri: `${FOLDER}SKILL.md`, digest: digest(text), size: text.length }],
  ...more,
});
const contents = (text: string) => ({ [`${FOLDER}SKILL.md`]: text });

test.each(ERAS)(
  "a file of a skill is read only as it was listed, by a program and by a client of %s [M7]",
  async (_era, open) => {
    const { url, runtime, describe } = await serveDescribed({
      a: { skills: [skill("old")], contents: contents("old") },
    });
    const client = await open(url);
    const uri = `${FOLDER}SKILL.md`;
    const read = `await device.AMCP.resources.read("${uri}")`;
    await client.request("skills/list");
    expect((await client.request("resources/read", { uri })).contents[0].text).toBe("old");
    expect(await runtime.run(read)).toMatchObject({ kind: "completed", value: "old" });
    describe("a", { skills: [skill("new")], contents: contents("new") });
    await expect(client.request("resources/read", { uri })).rejects.toThrow("not the file that the server has listed");
    expect(await runtime.run(read)).toMatchObject({ kind: "failed", error: { code: "SKILL_CHANGED" } });
    expect(await runtime.run(`await device.AMCP.skills.list(); return ${read}`)).toMatchObject({ value: "new" });
  },
);

test("a file of another size or digest than the listed one is not read [M7]", async () => {
  for (const wrong of [{ size: 4 }, { digest: `sha256:${"0".repeat(64)}` }, { digest: "none" }]) {
    const resources = [{ uri: `${FOLDER}SKILL.md`, digest: digest("old"), size: 3, ...wrong }];
    const { runtime } = await serveDescribed({
      a: { skills: [skill("old", { resources })], contents: contents("old") },
    });
    const code = `await device.AMCP.skills.get("${FOLDER}SKILL.md"); await device.AMCP.resources.read("${FOLDER}SKILL.md")`;
    expect(await runtime.run(code)).toMatchObject({ kind: "failed", error: { code: "SKILL_CHANGED" } });
  }
});

test.each(ERAS)(
  "a client of %s gets a skill that no list has, and no word of the server about itself [M7]",
  async (_era, open) => {
    const hidden = skill("old", { isHidden: true });
    const server = {
      skills: [hidden],
      contents: {
        [hidden.uri]: {
          contents: [{ uri: hidden.uri, text: "old" }],
          cacheScope: "public",
          _meta: { "io.modelcontextprotocol/serverInfo": { name: "evil" }, own: 1 },
        },
      },
    };
    const { url } = await serveDescribed({ a: server });
    const client = await open(url);
    expect((await client.request("skills/list")).skills).toEqual([]);
    expect(await client.request("skills/get", { uri: hidden.uri })).toMatchObject({
      skill: { uri: hidden.uri, frontmatter: { name: "clock" } },
      cacheScope: "private",
    });
    const answer = await client.request("resources/read", { uri: hidden.uri });
    expect(answer).toMatchObject({ cacheScope: "private", _meta: { own: 1 } });
    expect(JSON.stringify(answer)).not.toContain("evil");
  },
);

test("a client that looks for a registration of clients gets 404 [V1]", async () => {
  const { url } = await serveDescribed({ a: {} }, { auth: true }, {}, () => false);
  expect((await post(url.replace(/\/mcp$/, "/register"), {})).status).toBe(404);
});
