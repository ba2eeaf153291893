import { existsSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";

import type { CliCommand } from "../command.ts";
import { writeNewFile } from "../input/write-files.ts";
import { loadConfigModule } from "../mcp/files.ts";
import { SCHEMA_FILE } from "../settings/schema.ts";
import { lines } from "../text/layout.ts";
import { takenOverNote } from "../text/run-texts.ts";

export function addInit(program: CliCommand): void {
  program
    .command("init")
    .description(
      "set up a folder: a settings file, an MCP server file and a first skill; existing files stay unchanged",
    )
    .argument("[folder]", "the folder", ".")
    .addHelpText("after", "\nExample:\n  skillgate init my-project")
    .run(async ({ paint, folders, addProblems }, folder: string) => {
      const root = resolve(folder);
      const { skills: inUse, ownSkills } = await folders();
      const missing = FILES.filter(([name]) => !existsSync(join(root, name)));
      const created = missing.map(([name]) => name);
      const { changeByHand, loadConfig } = await loadConfigModule();
      const options = { cwd: root, env: process.env };
      await changeByHand(options, { files: created.map((name) => join(root, name)) }, async () => {
        for (const [name, text] of missing)
          await writeNewFile(join(root, name), text.replace(SCHEMA_PLACE, findSchema(root)));
      });
      addProblems((await loadConfig(options)).warnings.filter(({ isHeld }) => isHeld));
      const existing = FILES.map(([name]) => name).filter((name) => !created.includes(name));
      return {
        json: { folder: root, made: created, kept: existing },
        text: lines([
          ...created.map((name) => `Created ${formatPath(root, name)}`),
          ...existing.map((name) => `Kept ${formatPath(root, name)}`),
        ]),
        remarks: lines([
          paint.err.dim(NEXT),
          root === resolve(".") && inUse !== ownSkills ? takenOverNote(inUse, paint.err) : "",
        ]),
      };
    });
}

const NEXT = `Try it: skillgate run -e "device.GreeterSkill.greet('Ada')"`;

/** Stands for the address of the schema in the text of a file. */
const SCHEMA_PLACE = "SCHEMA";

const FILES: readonly (readonly [name: string, text: string])[] = [
  [
    ".mcp.json",
    `{
  "mcpServers": {}
}
`,
  ],
  [
    "settings.yaml",
    `# yaml-language-server: $schema=${SCHEMA_PLACE}
# Skillgate settings. Every setting is optional; the commented lines show the defaults.

# skills:
#   dir: skills

# limits:
#   wallMs: 60000
#   cpuMs: 5000
#   calls: 1000

# timeouts:
#   validationMs: 5000
#   discoveryMs: 2000
#   lockMs: 5000
#   connectMs: 30000
`,
  ],
  [
    "skills/greeter.ts",
    `/** Greets people. */
export class GreeterSkill {
  /**
   * Greet a person by name.
   * @param name Name of the person
   */
  greet(name: string): string {
    return \`Hello, \${name}!\`;
  }
}
`,
  ],
];

function formatPath(root: string, name: string): string {
  return relative(".", resolve(root, name)) || name;
}

/** The schema of the package that the project has installed, relative to the project; else the one of this package. */
function findSchema(root: string): string {
  for (let folder = root; ; folder = dirname(folder)) {
    const file = join(folder, "node_modules", "skillgate", "docs", "settings.schema.json");
    if (existsSync(file)) return relative(root, file).split(sep).join("/");
    if (dirname(folder) === folder) return SCHEMA_FILE;
  }
}
