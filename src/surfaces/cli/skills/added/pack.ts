import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { basename, dirname, extname, join, resolve, sep } from "node:path";

import { isRecord } from "../../../../model/json.ts";
import type { InspectedModule } from "../../../../providers/skills/index.ts";
import { createUnknownNameError } from "../../../../shared/suggest.ts";
import { VERSION } from "../../../../shared/version.ts";
import type { CliCommand } from "../../command.ts";
import { lines, shownPath } from "../../text/layout.ts";
import { UsageError } from "../../usage-error.ts";
import { copySkill, digestFiles } from "./files.ts";
import { readPackage } from "./source.ts";

export function addSkillsPack(skills: CliCommand): void {
  skills
    .command("pack")
    .description("make an npm package of a skill, for npm publish or npm pack")
    .argument("<skill>", "the name of a skill in the skills folder")
    .option("--out <folder>", "the new folder of the package (default: ./skillgate-skill-<name>)")
    .run(async (session, name: string, { out }: { readonly out?: string }) => {
      const { ownSkills } = await session.folders();
      const module = await findModule(ownSkills, name);
      const stem = getStem(module);
      const folder = resolve(out ?? `skillgate-skill-${stem}`);
      if (existsSync(folder)) throw new UsageError(`${shownPath(folder)} already exists; name a new folder with --out`);
      const from = requireOwnFolder(ownSkills, module);
      const facts = await createPackage(module, stem, dirname(module.entry));
      await copySkill(from, folder, stem);
      await writeFile(join(folder, "package.json"), `${JSON.stringify(facts, undefined, 2)}\n`);
      if (!existsSync(join(folder, "README.md")))
        await writeFile(join(folder, "README.md"), createReadme(module, facts.name));
      const files = [...(await digestFiles(folder)).keys()];
      return {
        json: { skill: module.skill, package: facts.name, version: facts.version, folder, files },
        text: lines([
          `Packed ${module.skill} as ${facts.name} ${facts.version} in ${shownPath(folder)}: ${files.join(", ")}`,
          `Publish it:        npm publish ${formatFolder(folder)}`,
          `Or hand it over:   npm pack ${formatFolder(folder)}`,
          `Add it elsewhere:  skillgate skills add ${facts.name}`,
        ]),
      };
    });
}

/** npm takes a name without `./` for that of a package. */
function formatFolder(folder: string): string {
  const path = shownPath(folder);
  return path.startsWith("/") ? path : `./${path}`;
}

async function findModule(skillsFolder: string, name: string): Promise<InspectedModule> {
  const { inspectSkills } = await import("../../../../providers/skills/index.ts");
  const { modules, problems } = await inspectSkills(skillsFolder);
  const found = modules.find((module) => module.skill === name || getStem(module) === name);
  if (found !== undefined) return found;
  const problem = problems.find((each) => each.startsWith(name));
  if (problem !== undefined) throw new UsageError(`Cannot pack ${name}: ${problem}`);
  const names = modules.flatMap((module) => [module.skill, getStem(module)]);
  throw createUnknownNameError("SKILL_UNKNOWN", name, names, { skill: name });
}

/** `weather` of `weather.ts` and of `weather/skill.ts`. */
function getStem({ source }: InspectedModule): string {
  const [first = ""] = source.split("/");
  return source.includes("/") ? first : basename(first, extname(first));
}

/** Returns the folder of the skill, or its only file. Throws if its code has files elsewhere, which the package would miss. */
function requireOwnFolder(skillsFolder: string, module: InspectedModule): string {
  const isFolder = module.source.includes("/");
  const own = isFolder ? dirname(module.entry) : module.entry;
  const outside = module.files.find((file) => file !== own && !(isFolder && file.startsWith(own + sep)));
  if (outside === undefined) return own;
  const target = shownPath(join(skillsFolder, getStem(module)));
  throw new UsageError(
    `Cannot pack ${module.skill}: it imports ${shownPath(outside)}, which is outside of it; put all its files into the folder ${target}`,
  );
}

interface SkillPackage {
  readonly name: string;
  readonly version: string;
  readonly [member: string]: unknown;
}

/** A package.json of the skill's own stays as it is, and gets what is missing. */
async function createPackage(module: InspectedModule, stem: string, folder: string): Promise<SkillPackage> {
  const own = module.source.includes("/") ? await readPackage(folder) : {};
  const project = await readPackage(process.cwd());
  const versions = new Map(
    ["dependencies", "devDependencies"].flatMap((kind) =>
      isRecord(project[kind]) ? Object.entries(project[kind]) : [],
    ),
  );
  const dependencies = Object.fromEntries(module.packages.map((name) => [name, versions.get(name) ?? "*"]));
  return {
    name: `skillgate-skill-${stem}`,
    version: "1.0.0",
    description: module.description.split("\n", 1)[0],
    keywords: ["skillgate-skill"],
    ...(module.packages.length > 0 && { dependencies }),
    peerDependencies: { skillgate: `>=${VERSION}` },
    peerDependenciesMeta: { skillgate: { optional: true } },
    ...own,
    skillgate: { skill: stem },
  };
}

function createReadme({ skill, description, methods }: InspectedModule, name: string): string {
  return `# ${skill}

${description}

\`\`\`sh
skillgate skills add ${name}
\`\`\`

${methods.map((method) => `- \`device.${skill}.${method}\``).join("\n")}
`;
}
