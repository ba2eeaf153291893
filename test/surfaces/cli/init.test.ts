import { spawnSync } from "node:child_process";
import { chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

import { BIN, environment, project, skillgate } from "./command.ts";

test("creates with init a folder in which a first program runs, and changes no existing file [O1]", async () => {
  const cwd = project({ "mine/settings.yaml": "# mine\n" });
  const first = await skillgate(["init", "mine"], { cwd });
  expect(first).toMatchObject({
    exit: 0,
    stdout: "Created mine/.mcp.json\nCreated mine/skills/greeter.ts\nKept mine/settings.yaml\n",
  });
  expect(readFileSync(join(cwd, "mine/settings.yaml"), "utf8")).toBe("# mine\n");
  const again = await skillgate(["init", "mine", "--json"], { cwd });
  expect(JSON.parse(again.stdout)).toMatchObject({
    made: [],
    kept: [".mcp.json", "settings.yaml", "skills/greeter.ts"],
  });
  const hello = await skillgate(["run", "-e", "device.GreeterSkill.greet('Ada')"], { cwd: join(cwd, "mine") });
  expect(hello).toEqual({ exit: 0, stdout: "Hello, Ada!\n", stderr: "" });
});

test("writes valid configuration with init [O1]", { tags: "rest" }, async () => {
  const cwd = project();
  rmSync(join(cwd, "skills"), { recursive: true });
  const shipped = resolve("skills");
  expect((await skillgate(["init"], { cwd })).stderr).toBe(
    `Try it: skillgate run -e "device.GreeterSkill.greet('Ada')"\nNote: The bundled skills in ${shipped} are no longer used in this project; copy those that you want to keep\n`,
  );
  expect((await skillgate(["init"], { cwd })).stderr).not.toContain("Note");
  const { exit, stdout } = await skillgate(["doctor"], { cwd });
  expect(exit).toBe(0);
  expect(stdout).toContain("✓ Configuration: settings.yaml, .mcp.json\n");
  expect(stdout).toContain("✓ Skills: GreeterSkill (1 method)\n");
});

test("reports why a file cannot be written [O1]", { tags: "rest" }, async () => {
  const cwd = project({ file: "", ".cursor": "" });
  const { exit, stderr } = await skillgate(["init", "file"], { cwd });
  expect({ exit, stderr }).toEqual({ exit: 2, stderr: "Cannot write file/.mcp.json: its folder is a file\n" });
  expect(await skillgate(["skills", "new", "weather", "--skills", "file/skills"], { cwd })).toMatchObject({
    exit: 2,
    stderr: "Cannot write file/skills/weather.ts: its folder is a file\n",
  });
  expect(await skillgate(["connect", "cursor", "--scope", "project"], { cwd })).toMatchObject({
    exit: 2,
    stderr: "Cannot change .cursor/mcp.json: its folder is a file\nMake the file writable, or name another file\n",
  });
});

const HAS_BASH = spawnSync("bash", ["--version"]).status === 0;

test.skipIf(!HAS_BASH).each([
  [["mc"], ["mcp"]],
  [
    ["mcp", "a"],
    ["accept", "add", "add-json"],
  ],
  [["mcp", "add", "--tr"], ["--transport"]],
  [["--json", "mcp", "remo"], ["remove"]],
  [
    ["account", "re"],
    ["remove", "revoke"],
  ],
  [["connect", "--pri"], ["--print"]],
  [["run", "--trac"], ["--trace"]],
])("completes %j in bash [O1]", async (words, expected) => {
  const cwd = project();
  const { stdout } = await skillgate(["completion", "bash"], { cwd });
  const script = join(cwd, "completion.sh");
  writeFileSync(
    script,
    `${stdout}\nCOMP_WORDS=(skillgate ${words.join(" ")}); COMP_CWORD=${words.length}; _skillgate; printf '%s\\n' "\${COMPREPLY[@]}"\n`,
  );
  const bash = spawnSync("bash", [script], { encoding: "utf8" });
  expect(bash).toMatchObject({ status: 0, stderr: "" });
  expect(bash.stdout.trim().split("\n").toSorted()).toEqual(expected);
});

/** The completion of a word after `keys create a --permission`, with the command of this package. */
async function completePermission(word: string): Promise<readonly string[]> {
  const cwd = project({
    "skills/shop.mjs": "/** Sells. */ export class ShopSkill { /** Add. */ add() {} /** Sell. */ sell() {} }",
    skillgate: `#!/bin/sh\nexec '${process.execPath}' '${BIN}' "$@"\n`,
  });
  chmodSync(join(cwd, "skillgate"), 0o755);
  const { stdout } = await skillgate(["completion", "bash"], { cwd });
  const words = `./skillgate keys create a --permission ${word}`;
  writeFileSync(
    join(cwd, "completion.sh"),
    `${stdout}\nCOMP_LINE=${quoteWord(words)}; COMP_POINT=\${#COMP_LINE}\nCOMP_WORDS=(./skillgate keys create a --permission ${quoteWord(word)}); COMP_CWORD=5; _skillgate; printf '%s\\n' "\${COMPREPLY[@]}"\n`,
  );
  const bash = spawnSync("bash", ["completion.sh"], { cwd, encoding: "utf8", env: environment(cwd) });
  expect(bash).toMatchObject({ status: 0, stderr: "" });
  return bash.stdout.trim().split("\n");
}

const quoteWord = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

test.skipIf(!HAS_BASH).each([
  ["c", ["call:"]],
  ["call:Sh", [String.raw`ShopSkill.\*`, "ShopSkill.add", "ShopSkill.sell"]],
  [String.raw`call:ShopSkill.\*`, [String.raw`ShopSkill.\*`]],
  ["'call:Sh", ["call:ShopSkill.*", "call:ShopSkill.add", "call:ShopSkill.sell"]],
  ["admin:R", ["Read"]],
])("completes the permission %s in bash [O1]", { tags: "rest" }, async (word, expected) => {
  expect(await completePermission(word)).toEqual(expected);
});

test("prints completion scripts for three shells, and names them [O1]", async () => {
  const cwd = project();
  const [zsh, fish, other] = await Promise.all(
    ["zsh", "fish", "bsh"].map((shell) => skillgate(["completion", shell], { cwd })),
  );
  expect(zsh?.stdout).toMatch(/^#compdef skillgate\n/);
  expect(fish?.stdout).toContain(
    "complete -c skillgate -f -n '__fish_seen_subcommand_from mcp; and not __fish_seen_subcommand_from add ",
  );
  expect(fish?.stdout).toContain(
    "-l 'permission' -x -a '(skillgate complete-permission permission -- (commandline -ct) 2>/dev/null)' -d ",
  );
  expect(other).toMatchObject({ exit: 2, stderr: "Unknown shell: bsh; did you mean bash or zsh?\n" });
});

test("names with init the schema of settings.yaml, which is a file and validates what init writes [O1]", async () => {
  const cwd = project();
  await skillgate(["init"], { cwd });
  const [, file = ""] =
    /^# yaml-language-server: \$schema=(.*)\n/.exec(readFileSync(join(cwd, "settings.yaml"), "utf8")) ?? [];
  const schema = JSON.parse(readFileSync(resolve(cwd, file), "utf8")) as unknown;
  const { exit, stdout } = await skillgate(["settings", "schema"], { cwd });
  expect({ exit, schema: JSON.parse(stdout) as unknown }).toEqual({ exit: 0, schema });
});

test("names with init the schema of the installed package, relative to the project [O1]", async () => {
  const schema = "node_modules/skillgate/docs/settings.schema.json";
  const cwd = project({ [schema]: "{}" });
  await skillgate(["init", "inner"], { cwd });
  expect(readFileSync(join(cwd, "inner/settings.yaml"), "utf8")).toMatch(`$schema=../${schema}\n`);
});
