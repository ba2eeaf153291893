import { createHash } from "node:crypto";

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { describe, expect, test, vi } from "vitest";

import { ListedSkillFiles } from "../../../../src/providers/mcp/catalog/skill-files.ts";
import { folder, post, serve, TestSkill } from "../../serving.ts";
import { takeShare } from "../../../support/repetitions.ts";
import { ERAS, openLegacy } from "../raw-client.ts";
import { serveDescribed } from "./described.ts";

const FOLDER = "skill://clock/";
const digest = (text: string): string => `sha256:${createHash("sha256").update(text).digest("hex")}`;
const manifest = (body: string): string => `---\nname: clock\ndescription: "x"\n---\n\n${body}`;
const file = (name: string, text: string) => ({ uri: FOLDER + name, digest: digest(text), size: text.length });
const skill = (body: string, more: object = {}) => ({
  uri: `${FOLDER}SKILL.md`,
  frontmatter: { name: "clock", description: "x" },
  resources: [file("SKILL.md", manifest(body))],
  ...more,
});
const contents = (body: string) => ({ [`${FOLDER}SKILL.md`]: manifest(body) });

test.each(takeShare(2, ERAS))(
  "a file of a skill is read only as it was listed, by a program and by a client of %s [M7]",
  { tags: "repeated" },
  async (_era, open) => {
    const { url, runtime, describe } = await serveDescribed({
      a: { skills: [skill("old")], contents: contents("old") },
    });
    const client = await open(url);
    const uri = `${FOLDER}SKILL.md`;
    const read = `await device.AMCP.resources.read("${uri}")`;
    await client.request("skills/list");
    expect((await client.request("resources/read", { uri })).contents[0].text).toBe(manifest("old"));
    expect(await runtime.run(read)).toMatchObject({ kind: "completed", value: manifest("old") });
    describe("a", { skills: [skill("new")], contents: contents("new") });
    await expect(client.request("resources/read", { uri })).rejects.toThrow("not the file that the server has listed");
    expect(await runtime.run(read)).toMatchObject({ kind: "failed", error: { code: "SKILL_CHANGED" } });
    expect(await runtime.run(`await device.AMCP.skills.list(); return ${read}`)).toMatchObject({
      value: manifest("new"),
    });
  },
);

test("a file of another size or digest than the listed one is not read [M7]", async () => {
  const skills = [{ size: 4 }, { digest: `sha256:${"0".repeat(64)}` }, { digest: "none" }].map((wrong, at) => {
    const uri = `skill://clock${at}/SKILL.md`;
    return skill("old", { uri, resources: [{ ...file("SKILL.md", manifest("old")), uri, ...wrong }] });
  });
  const texts = Object.fromEntries(skills.map(({ uri }) => [uri, manifest("old")]));
  const { runtime } = await serveDescribed({ a: { skills, contents: texts } });
  for (const { uri } of skills) {
    const code = `await device.AMCP.skills.get("${uri}"); await device.AMCP.resources.read("${uri}")`;
    expect(await runtime.run(code)).toMatchObject({ kind: "failed", error: { code: "SKILL_CHANGED" } });
  }
});

const READ = `device.AMCP.resources.read`;
const CHANGED = { kind: "failed", error: { code: "SKILL_CHANGED" } };

test(
  "front matter that differs from the listed one is not read, also where a server generates the files [M7]",
  { tags: "rest" },
  async () => {
    const extra = { license: "MIT", metadata: { version: 1, list: ["a"] } };
    const text = `---\nlicense: MIT\nname: clock\nmetadata: { list: [a], version: 1.0 }\ndescription: x\n---\nBody`;
    const uri = `${FOLDER}SKILL.md`;
    for (const resources of [[file("SKILL.md", text)], "dynamic"]) {
      const listed = (frontmatter: object) => ({ uri, frontmatter, resources });
      const frontmatter = { name: "clock", description: "x", ...extra };
      const { runtime, describe } = await serveDescribed({
        a: { skills: [listed(frontmatter)], contents: { [uri]: text } },
      });
      const code = `await device.AMCP.skills.list(); return await ${READ}("${uri}")`;
      expect(await runtime.run(code)).toMatchObject({ value: text });
      for (const wrong of [
        { ...frontmatter, license: "GPL" },
        { ...frontmatter, more: 1 },
        { name: "clock" },
        "none",
      ]) {
        describe("a", { skills: [listed(wrong as object)], contents: { [uri]: text } });
        expect(await runtime.run(code)).toMatchObject(CHANGED);
      }
      describe("a", { skills: [listed(frontmatter)], contents: { [uri]: "no front matter" } });
      expect(await runtime.run(code)).toMatchObject(CHANGED);
    }
  },
);

test("a file in the folder of a skill that its list does not have is not read, also by a template [M7]", async () => {
  const others = { [`${FOLDER}a/extra.md`]: "extra", "skill://other.md": "other" };
  const { runtime, describe } = await serveDescribed({
    a: { skills: [skill("old")], contents: { ...contents("old"), ...others } },
  });
  await runtime.run("await device.AMCP.skills.list()");
  for (const read of [
    `${READ}("${FOLDER}a/extra.md")`,
    `${READ}({ uri: "${FOLDER}{name}", values: { name: "extra.md" } })`,
    `${READ}({ uri: "skill://{name}/a/extra.md", values: { name: "clock" } })`,
  ])
    expect(await runtime.run(`return await ${read}`)).toMatchObject({ kind: "failed" });
  expect(await runtime.run(`return await ${READ}("${FOLDER}a/extra.md")`)).toMatchObject(CHANGED);
  expect(await runtime.run(`return await ${READ}("skill://other.md")`)).toMatchObject({ value: "other" });
  const resources = [file("SKILL.md", manifest("old")), file("a/extra.md", "extra")];
  describe("a", { skills: [skill("old", { resources })], contents: { ...contents("old"), ...others } });
  const again = `await device.AMCP.skills.get("${FOLDER}SKILL.md"); return await ${READ}("${FOLDER}a/extra.md")`;
  expect(await runtime.run(again)).toMatchObject({ value: "extra" });
});

describe("a changed file of a skill that a caller has listed is not read", () => {
  const safe = "skill://safe/";
  const listed = (name: string, text = "old") => ({
    uri: `skill://${name}/SKILL.md`,
    frontmatter: { name },
    resources: [{ uri: `skill://${name}/a.sh`, digest: digest(text) }],
  });
  const many = Array.from({ length: 1_000 }, (_, at) => listed(`other${at}`));
  const changed = { contents: { [`${safe}a.sh`]: "new" } };
  const read = `return await ${READ}("${safe}a.sh")`;
  const LIST = "await device.AMCP.skills.list()";

  test("after another caller has got a thousand skills [M7]", { tags: "rest" }, async () => {
    const { runtime, describe: set } = await serveDescribed({ a: { skills: [listed("safe")] } });
    await runtime.run(LIST);
    set("a", { skills: many, ...changed });
    const other = { id: "other", permissions: ["call:*"] };
    await runtime.run(LIST, { caller: other });
    expect(await runtime.run(read, { caller: other })).toMatchObject({ value: "new" });
    expect(await runtime.run(read)).toMatchObject(CHANGED);
  });

  test("after the caller has got another entry of its folder [M7]", { tags: "rest" }, async () => {
    for (const more of [{}, { resources: [{ uri: `${safe}a.sh` }] }]) {
      const { runtime, describe: set } = await serveDescribed({ a: { skills: [listed("safe")] } });
      await runtime.run(LIST);
      set("a", { skills: [{ uri: `${safe}OTHER.md`, frontmatter: {}, ...more }], ...changed });
      expect(await runtime.run(`${LIST}; ${read}`)).toMatchObject(CHANGED);
    }
  });

  test(
    "after the caller has got more skills than are kept, until it gets this one again [M7]",
    { tags: "rest" },
    async () => {
      const { runtime } = await serveDescribed({ a: { skills: [listed("safe", "new"), ...many], ...changed } });
      expect(await runtime.run(read)).toMatchObject({ value: "new" });
      expect(await runtime.run(`${LIST}; ${read}`)).toMatchObject(CHANGED);
      const get = `await device.AMCP.skills.get("${safe}SKILL.md")`;
      expect(await runtime.run(`${get}; ${read}`)).toMatchObject({ value: "new" });
    },
  );

  test("after more callers have got skills than are kept, until this one gets them again [M7]", async () => {
    const files = new ListedSkillFiles();
    const check = async (caller: string, text: string, uri = `${safe}a.sh`) =>
      files.check(caller, uri, { contents: [{ uri, text }] });
    const refused = { code: "SKILL_CHANGED" };
    files.keep("first", [listed("safe")]);
    files.keep("second", [listed("safe")]);
    for (let at = 2; at < 1_000; at++) files.keep(`caller ${at}`, []);
    await check("first", "old");
    await check("none", "new");
    files.keep("last", []);
    await check("first", "old");
    await expect(check("first", "new")).rejects.toMatchObject(refused);
    await expect(check("second", "old")).rejects.toMatchObject(refused);
    await check("second", "new", "note://safe/a.sh");
    files.keep("second", [listed("safe")]);
    await check("second", "old");
    await expect(check("second", "old", "skill://forgotten/a.sh")).rejects.toMatchObject(refused);
  });

  test("also many folders below that of the skill [M7]", async () => {
    const files = new ListedSkillFiles();
    files.keep("first", [listed("safe")]);
    const uri = `${safe}${"a/".repeat(100)}a.sh`;
    await expect(files.check("first", uri, { contents: [{ uri, text: "new" }] })).rejects.toThrow("Cannot read");
  });
});

describe("the files of a skill are those that a client has been shown", () => {
  const RELISTED = "notifications/resources/list_changed";
  const uri = "skill://safe/a.sh";
  const listed = (text: string, name = "safe") => ({
    uri: `skill://${name}/SKILL.md`,
    frontmatter: { name },
    resources: [{ uri: `skill://${name}/a.sh`, digest: digest(text) }],
  });

  test.each(ERAS)("not those of a list that %s reads for itself [M7]", async (_era, open) => {
    const {
      url,
      runtime,
      describe: set,
    } = await serveDescribed({
      a: { skills: [listed("old")], contents: { [uri]: "old" } },
    });
    const client = await open(url);
    const read = async () => client.request("resources/read", { uri });
    const countLists = async (): Promise<number> => {
      const { received } = (await runtime.call("AMCP.received", {})) as { received: readonly { method: string }[] };
      return received.filter(({ method }) => method === "skills/list").length;
    };
    await client.request("skills/list");
    set("a", { skills: [listed("new")], contents: { [uri]: "new" } });
    await expect(read()).rejects.toThrow("not the file that the server has listed");
    const before = await countLists();
    await runtime.call("AMCP.emit", { method: RELISTED });
    await vi.waitFor(async () => {
      await expect(read()).rejects.toThrow("not the file that the server has listed");
      expect(await countLists()).toBeGreaterThan(before);
    });
    await expect(read()).rejects.toThrow("not the file that the server has listed");
    await client.request("skills/list");
    expect((await read()).contents[0].text).toBe("new");
  });

  test("only those on the pages of the list that it has got [M7]", async () => {
    const many = (text: string) => Array.from({ length: 501 }, (_, at) => listed(text, `safe${at}`));
    const first = "skill://safe0/a.sh";
    const last = "skill://safe500/a.sh";
    const { url } = await serveDescribed({
      a: { skills: many("old"), contents: { [first]: "new", [last]: "new" } },
    });
    const client = await openLegacy(url);
    const read = async (of: string) => client.request("resources/read", { uri: of });
    const { nextCursor } = await client.request("skills/list");
    await expect(read(first)).rejects.toThrow("not the file that the server has listed");
    expect((await read(last)).contents[0].text).toBe("new");
    await client.request("skills/list", { cursor: nextCursor });
    await expect(read(last)).rejects.toThrow("not the file that the server has listed");
  });

  test("by whatever spelling of an address a server takes for the same [M7]", { tags: "rest" }, async () => {
    const text = "---\nname: other\n---";
    const { url, runtime } = await serveDescribed({
      a: {
        skills: [listed("old"), { uri: "skill://live/SKILL.md", frontmatter: { name: "live" } }],
        contents: { "*": text },
      },
    });
    const client = await openLegacy(url);
    await client.request("skills/list");
    const spellings = [
      "safe//a.sh /safe/a.sh safe/./a.sh ./safe/a.sh x/../safe/a.sh safe/%61.sh %73afe/a.sh s%2561fe/a.sh %2573afe/a.sh",
      "%%37%33afe/a.sh SAFE/a.sh safe/A.SH safe%2fa.sh safe\\a.sh safe/a.sh?x safe/a.sh#x safe:80/a.sh safe./a.sh",
      "safe/../a.sh safe/%2e%2e/a.sh safe/..\\a.sh safe/x?/../a.sh safe/x%23/../a.sh live/../SKILL.md",
      "me@safe/a.sh ſafe/a.sh sa\u200Bfe/a.sh live//SKILL.md live/./SKILL.md LIVE/SKILL.md live/%53KILL.md live/skill.md",
    ];
    for (const spelling of spellings.flatMap((line) => line.split(" ")))
      for (const address of [
        `skill://${spelling}`,
        `SKILL://${spelling}`,
        `skill:${spelling}`,
        ` skill://${spelling}`,
      ]) {
        const reading = client.request("resources/read", { uri: address }).then(({ contents: got }) => got[0].text);
        await expect(reading, address).rejects.toThrow();
        expect(await runtime.run(`return await ${READ}(${JSON.stringify(address)})`), address).toMatchObject(CHANGED);
      }
    expect(await runtime.run(`return await ${READ}("skill://safe2/a.sh")`)).toMatchObject({ value: text });
  });

  test("also at a server with tools that have the names of the methods for reading [M7]", async () => {
    const names = ["resources_read", "skills_list", "resources_list", "skills/get", "mcp_resources_read"];
    const { url, runtime } = await serveDescribed({
      a: {
        tools: names.map((name) => ({ name })),
        results: { resources_read: { content: [{ type: "text", text: "by the tool" }] } },
        skills: [listed("old")],
        contents: { [uri]: "new", "skill://note.md": "a note" },
      },
    });
    const client = await openLegacy(url);
    expect((await client.request("skills/list")).skills).toEqual([listed("old")]);
    await expect(client.request("resources/read", { uri })).rejects.toThrow("not the file that the server has listed");
    expect((await client.request("resources/read", { uri: "skill://note.md" })).contents[0].text).toBe("a note");
    expect(await runtime.run(`return await ${READ}()`)).toMatchObject({ value: "by the tool" });
  });
});

test.each(takeShare(2, ERAS))(
  "a client of %s reads folders of skills, by their servers or their lists of files [M7]",
  { tags: "repeated" },
  async (_era, open) => {
    const resources = [file("SKILL.md", manifest("old")), file("a/b/c.md", "c"), file("a/d.bin", "d")];
    const server = { skills: [skill("old", { resources })], contents: contents("old") };
    const entry = { uri: `${FOLDER}live.md`, name: "live.md", mimeType: "text/markdown" };
    const { url, runtime } = await serveDescribed({
      a: server,
      b: {
        ...server,
        capabilities: { extensions: { "io.modelcontextprotocol/skills": { directoryRead: true } } },
        directories: { "skill://clock": { resources: [entry] } },
      },
    });
    const client = await open(url);
    expect(client.capabilities.extensions["io.modelcontextprotocol/skills"]).toEqual({ directoryRead: true });
    await client.request("skills/list");
    const read = async (uri: string) => (await client.request("resources/directory/read", { uri })).resources;
    expect(await read("skill://clock")).toEqual([
      { uri: "skill://clock/SKILL.md", name: "SKILL.md", mimeType: "text/markdown" },
      { uri: "skill://clock/a", name: "a", mimeType: "inode/directory" },
    ]);
    expect(await read("skill://clock/a")).toEqual([
      { uri: "skill://clock/a/b", name: "b", mimeType: "inode/directory" },
      { uri: "skill://clock/a/d.bin", name: "d.bin" },
    ]);
    expect(await read("skill://b.skillgate/clock")).toEqual([{ ...entry, uri: "skill://b.skillgate/clock/live.md" }]);
    for (const uri of [
      "skill://clock/SKILL.md",
      "skill://clock/none",
      "skill://clo",
      "skill://b.skillgate/clock/none",
      3,
    ])
      await expect(client.request("resources/directory/read", { uri })).rejects.toMatchObject({ code: -32_602 });
    expect(await runtime.run('return await device.BMCP.resources_directory("skill://clock")')).toMatchObject({
      value: [entry],
    });
  },
);

test.each(takeShare(2, ERAS))(
  "a client of %s gets the skills of Skillgate itself, as far as it may use them [M7] [P8]",
  { tags: "repeated" },
  async (_era, open) => {
    const root = folder();
    const text = "---\nname: tea-time\ndescription: How to make tea\nlicense: MIT\n---\n\nBoil water.\n";
    const files = { "SKILL.md": text, "notes/kinds.md": "Green", ".secret": "x", "pot.bin": Buffer.from([0xff, 0]) };
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(root, "tea-time", path)), { recursive: true });
      writeFileSync(join(root, "tea-time", path), content);
    }
    const settings = join(folder(), "settings.yaml");
    writeFileSync(settings, 'profiles: { narrow: { permissions: ["call:TestSkill.*"] } }');
    const { url, runtime } = await serve({}, { cwd: folder(), settings, skillsDir: root, skills: [TestSkill] });
    await runtime.ready;
    const client = await open(`${url}/mcp`);
    const uri = "skill://tea-time/SKILL.md";
    const { skills } = await client.request("skills/list");
    expect(skills).toEqual([
      {
        uri,
        frontmatter: { name: "tea-time", description: "How to make tea", license: "MIT" },
        resources: [
          { uri, digest: digest(text), size: text.length },
          { uri: "skill://tea-time/notes/kinds.md", digest: digest("Green"), size: 5 },
          expect.objectContaining({ uri: "skill://tea-time/pot.bin", size: 2 }),
        ],
      },
    ]);
    expect((await client.request("skills/get", { uri })).skill).toEqual(skills[0]);
    const read = async (path: string) => (await client.request("resources/read", { uri: path })).contents;
    expect(await read(uri)).toEqual([{ uri, mimeType: "text/markdown", text }]);
    expect(await read("skill://tea-time/pot.bin")).toEqual([
      { uri: "skill://tea-time/pot.bin", mimeType: "application/octet-stream", blob: "/wA=" },
    ]);
    await expect(read("skill://tea-time/.secret")).rejects.toThrow();
    const narrow = await open(`${url}/mcp/narrow`);
    expect((await narrow.request("skills/list")).skills).toEqual([]);
    await expect(narrow.request("skills/get", { uri })).rejects.toThrow("Unknown skill");
    await expect(narrow.request("resources/read", { uri })).rejects.toThrow();
    await expect(narrow.request("resources/directory/read", { uri: "skill://tea-time" })).rejects.toThrow(
      "not the URI",
    );
    writeFileSync(join(root, "tea-time/notes/kinds.md"), "Black tea");
    expect((await client.request("skills/list")).skills[0].resources[1]).toMatchObject({ digest: digest("Black tea") });
  },
);

test.each(takeShare(2, ERAS))(
  "a client of %s gets a skill that no list has, and no word of the server about itself [M7]",
  { tags: "repeated" },
  async (_era, open) => {
    const hidden = skill("old", { isHidden: true });
    const server = {
      skills: [hidden],
      contents: {
        [hidden.uri]: {
          contents: [{ uri: hidden.uri, text: manifest("old") }],
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
