import { existsSync } from "node:fs";
import { relative, resolve } from "node:path";

import type { SourceStatus } from "../../../providers/sources/index.ts";
import { toRecord } from "../../../model/json.ts";
import type { CliCommand, CommandResult } from "../command.ts";
import { loadConfigModule } from "../mcp/files.ts";
import { collected, parseHeaders } from "../mcp/server-flags.ts";
import type { CliSession } from "../session.ts";
import type { Paint } from "../terminal/terminal.ts";
import { count, lines } from "../text/layout.ts";
import { UsageError } from "../usage-error.ts";

export function addSource(program: CliCommand): void {
  const source = program
    .command("source")
    .description("APIs whose OpenAPI documents become skills: the section sources of settings.yaml")
    .addHelpText("after", HELP);
  source
    .command("add")
    .description("write an API into settings.yaml, and read its document")
    .argument("<document>", "the URL or the file of its OpenAPI document (JSON or YAML; 2.0, 3.0, 3.1)")
    .requiredOption("--name <name>", "its name in the settings; the skill of github is GithubAPI")
    .option("--server <url>", "the base URL of its requests (default: the first server of the document)")
    .option(
      "-H, --header <header>",
      "a header of all requests, such as 'Authorization: Bearer ${TOKEN}'; repeatable",
      collected,
    )
    .option("--private", "it is at an address of a private network")
    .option(
      "--include <pattern>",
      "the operations that become methods: 'GET *', '/repos/*', 'issues_*' or a tag; repeatable",
      collected,
    )
    .option("--exclude <pattern>", "the operations that do not; repeatable", collected)
    .run(add);
  source.command("list").description("list the APIs with their methods and problems").run(list);
  source
    .command("check")
    .description("list what of a document is left out, and the POST operations that look as if they only read")
    .argument("<name>", "its name in the settings")
    .run(check);
  source
    .command("refresh")
    .description("read the document of an API again")
    .argument("<name>", "its name in the settings")
    .run(refresh);
  source
    .command("accept")
    .description("accept the operations of an API as they are now, after a look at what has changed")
    .argument("<name>", "its name in the settings")
    .run(accept);
  source
    .command("remove")
    .description("remove an API from settings.yaml")
    .argument("<name>", "its name in the settings")
    .run(remove);
}

const HELP = `
Examples:
  skillgate source add https://petstore3.swagger.io/api/v3/openapi.json --name petstore
  skillgate source add ./api.yaml --name shop --server https://api.example.com -H 'Authorization: Bearer \${SHOP_KEY}'
  skillgate source check shop`;

interface AddSourceFlags {
  readonly name: string;
  readonly server?: string;
  readonly header?: readonly string[];
  readonly private?: true;
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
}

async function add(session: CliSession, document: string, flags: AddSourceFlags): Promise<CommandResult> {
  const { name, server, header = [], include, exclude } = flags;
  await requireFreeName(session, name);
  const openapi = /^https?:\/\//i.test(document) ? document : toProjectPath(document);
  const settings = {
    openapi,
    ...(server !== undefined && { server }),
    ...(header.length > 0 && { headers: parseHeaders(header) }),
    ...(flags.private === true && { private: true }),
    ...(include !== undefined && { include }),
    ...(exclude !== undefined && { exclude }),
  };
  await edit(session, name, settings);
  let status = await findStatus(session, name, "new");
  const fromDocument = status.documentServer;
  if (server === undefined && fromDocument !== undefined) {
    // Written down, it stays the same when the document changes.
    await edit(session, name, { ...settings, server: fromDocument });
    status = await findStatus(session, name, "new");
  }
  return {
    ...(status.error !== undefined && { exit: "failed" as const }),
    json: { added: name, ...status },
    text: lines([`Added ${name} to settings.yaml`, ...describe(status, session.paint.out)]),
  };
}

async function requireFreeName(session: CliSession, name: string): Promise<void> {
  const { findSourceNameFlaw } = await import("../../../runtime/settings/index.ts");
  const flaw = findSourceNameFlaw(name);
  if (flaw !== undefined) throw new UsageError(`${flaw}; for example: --name shop`);
  if (Object.hasOwn(await readSection(session), name))
    throw new UsageError(
      `settings.yaml has a source ${name} already; choose another name, or remove it: skillgate source remove ${name}`,
    );
}

/** The section as it is written, with sources that have mistakes. */
async function readSection(session: CliSession): Promise<Readonly<Record<string, unknown>>> {
  return toRecord((await session.openRuntime()).sections["sources"]);
}

function toProjectPath(document: string): string {
  if (!existsSync(document)) throw new UsageError(`There is no file ${document}; write a file, or a URL with https://`);
  const path = relative(".", resolve(document)).replaceAll("\\", "/");
  return path.startsWith("..") ? resolve(document) : `./${path}`;
}

async function list(session: CliSession): Promise<CommandResult> {
  const apis = (await session.openRuntime({ until: "known" })).listApis();
  const none = "No API is in the section sources of settings.yaml. Add one: skillgate source add URL --name NAME";
  return {
    json: { sources: apis },
    text: apis.length === 0 ? none : lines(apis.flatMap((status) => describe(status, session.paint.out))),
  };
}

/** POST operations whose summary begins so usually change nothing. */
const READS =
  /^(?:get|gets|list|lists|search|searches|find|finds|query|queries|read|reads|count|counts|fetch|retrieve)s?\b/i;

async function check(session: CliSession, name: string): Promise<CommandResult> {
  const status = await findStatus(session, name);
  const { catalog } = await session.openRuntime({ until: "known" });
  const methods = catalog.skill(status.skill)?.methods ?? [];
  const reads = methods.filter(
    ({ description, metadata }) => !metadata.readOnly && READS.test(description) && / POST \/\S*$/.test(description),
  );
  const candidates = reads.map(({ description }) => description.slice(description.lastIndexOf("POST ")));
  return {
    ...(status.error !== undefined && { exit: "failed" as const }),
    json: { ...status, reads: candidates },
    text: lines([
      ...describe(status, session.paint.out),
      ...status.problems.map((problem) => `  ${problem}`),
      ...status.changes.map(describeChange),
      ...(status.changes.length === 0 ? [] : [`Accept this with: skillgate source accept ${name}`]),
      ...(candidates.length === 0
        ? []
        : [
            `${count(candidates.length, "operation")} may only read. If so, write it into settings.yaml:`,
            `  sources: { ${name}: { effects: { ${JSON.stringify(candidates[0])}: read } } }`,
            ...candidates.map((operation) => `  ${operation}`),
          ]),
    ]),
  };
}

async function refresh(session: CliSession, name: string): Promise<CommandResult> {
  await findStatus(session, name);
  const runtime = await session.openRuntime();
  const status = await runtime.refreshApi(name);
  return {
    ...(status.error !== undefined && { exit: "failed" as const }),
    json: status,
    text: lines(describe(status, session.paint.out)),
  };
}

async function accept(session: CliSession, name: string): Promise<CommandResult> {
  const { changes, error } = await findStatus(session, name);
  const runtime = await session.openRuntime();
  await runtime.acceptApi(name);
  return {
    ...(error !== undefined && { exit: "failed" as const }),
    json: { accepted: name, changes },
    text: lines([...changes.map(describeChange), `Accepted ${count(changes.length, "change")} of ${name}`]),
    remarks: error ?? "",
  };
}

/** Lines for the differences of one operation. */
function describeChange({ name, kind, differences }: SourceStatus["changes"][number]): string {
  return lines([`  ${name} was ${kind}`, ...differences.map((difference) => `    ${difference}`)]);
}

async function remove(session: CliSession, name: string): Promise<CommandResult> {
  if (!Object.hasOwn(await readSection(session), name)) await findStatus(session, name);
  await edit(session, name, undefined);
  return { json: { removed: name }, text: `Removed ${name} from settings.yaml` };
}

/** The owner's own edit does not hold the project. */
async function edit(session: CliSession, name: string, settings: object | undefined): Promise<void> {
  const { editSettingsByHand } = await loadConfigModule();
  const { settingsFile } = await session.folders();
  const values = [{ path: ["sources", name], value: settings }];
  await editSettingsByHand({ cwd: process.cwd(), env: process.env }, settingsFile, { values });
}

async function findStatus(session: CliSession, name: string, which: "new" | "old" = "old"): Promise<SourceStatus> {
  const runtime = await session.openRuntime({ until: "known", which });
  const apis = runtime.listApis();
  const status = apis.find((api) => api.name === name);
  if (status !== undefined) return status;
  const problem = runtime.problems.find(({ error }) => error.includes(`sources.${name}`));
  const names = apis.length === 0 ? "it has none" : `it has ${apis.map((api) => api.name).join(", ")}`;
  throw new UsageError(problem?.error ?? `There is no source ${name} in settings.yaml; ${names}`);
}

function describeChanges({ changes, holdsChanges }: SourceStatus): string {
  const words = `${count(changes.length, "operation")} changed, added or removed since they were accepted`;
  return holdsChanges ? `${words}, and held back` : words;
}

function describe(status: SourceStatus, paint: Paint): readonly string[] {
  const { name, skill, title, version, server, methods, operations, left, problems, changes, error } = status;
  if (error !== undefined && operations === 0) return [`${paint.red("✗")} ${name}: ${error}`];
  return [
    `${paint.green("✓")} ${name}: ${skill}, ${count(methods, "method")} of ${title} ${version}`.trimEnd(),
    `  ${server ?? `no server: write sources.${name}.server`}`,
    ...(left > 0 ? [`  ${count(left, "operation")} left out by include and exclude`] : []),
    ...(changes.length > 0 ? [`  ${describeChanges(status)}: skillgate source check ${name}`] : []),
    ...(problems.length > 0 ? [`  ${count(problems.length, "problem")}: skillgate source check ${name}`] : []),
    ...(error === undefined ? [] : [`${paint.red("✗")} ${error}`]),
  ];
}
