import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { createRuntime } from "../../src/runtime.ts";

function createFolder(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-agent-skills-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

const INSTRUCTIONS = `# Forms

Fill with scripts/fill.ts, check with \`scripts/check.py\`, print with scripts/main.js; see ../scripts/up.js and scripts/linked.js.
`;

test("takes a folder with a SKILL.md alone: its instructions are a method that search finds [L1]", async () => {
  const folder = createFolder({
    "pdf-forms/SKILL.md": `---\nname: pdf-forms\ndescription: "Fill in forms of PDF files. */ @hidden \${x}"\n---\n${INSTRUCTIONS}\u2028`,
    "pdf-forms/scripts/fill.ts":
      "/** Fill a field. */\nexport function fill(name: string): string { return `${name}!`; }\n",
    "pdf-forms/scripts/main.js": "process.exit(3); // export function never() {}",
    "pdf-forms/scripts/check.py": "exit(3)",
    "up.txt": "export function up() {}",
  });
  symlinkSync("../../up.txt", join(folder, "pdf-forms/scripts/linked.js"));
  await using runtime = await createRuntime({ skillsDir: folder, discover: false, workers: 1 });
  expect(runtime.catalog.methods.map(({ path }) => path).toSorted()).toEqual([
    "PdfFormsFillSkill.fill",
    "PdfFormsSkill.instructions",
  ]);
  expect(runtime.problems).toEqual([]);
  const [found] = runtime.search("instructions of the PDF form").results;
  expect(found?.path).toBe("PdfFormsSkill.instructions");
  expect(await runtime.call("PdfFormsSkill.instructions", {})).toBe(INSTRUCTIONS.trim());
  expect(await runtime.call("PdfFormsFillSkill.fill", { name: "a" })).toBe("a!");
  const skill = runtime.catalog.skill("PdfFormsSkill");
  expect(skill).toMatchObject({ description: "Fill in forms of PDF files. * / at hidden ${x}" });
});

test("follows changes of the instructions [L4]", { tags: "rest" }, async () => {
  const folder = createFolder({ "notes/SKILL.md": "Write short." });
  await using runtime = await createRuntime({ skillsDir: folder, discover: false, workers: 1, watch: true });
  expect(await runtime.call("NotesSkill.instructions", {})).toBe("Write short.");
  writeFileSync(join(folder, "notes/SKILL.md"), "Write shorter.");
  await expect.poll(() => runtime.call("NotesSkill.instructions", {})).toBe("Write shorter.");
});

test(
  "reads no device through a link of a hostile project, and takes names of scripts in time [L1, V6]",
  { tags: "rest" },
  async () => {
    const names = "scripts/".repeat(60_000);
    const folder = createFolder({ "evil/SKILL.md": `${names} scripts/zero.js`, "evil/scripts/fill.js": "" });
    symlinkSync("/dev/zero", join(folder, "evil/scripts/zero.js"));
    await using runtime = await createRuntime({ skillsDir: folder, discover: false, workers: 1 });
    expect(runtime.catalog.methods.map(({ path }) => path)).toEqual(["EvilSkill.instructions"]);
  },
);
