import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { relative, resolve } from "node:path";

import type { SourceSettings } from "../../../runtime/options.ts";
import { withoutGaps } from "../../../shared/json/without-gaps.ts";
import type { CliCommand, CommandResult } from "../command.ts";
import { editSettings } from "../settings/edit-settings.ts";
import { collected, parseHeaders } from "../mcp/server-flags.ts";
import type { CliSession } from "../session.ts";
import { count, lines } from "../text/layout.ts";
import { UsageError } from "../usage-error.ts";
import { findSource, listSettingProblems, readSection } from "./find-source.ts";
import { checkSource, proposeReads, showSource } from "./show.ts";
import { describeChange, describeSecurity, describeSource } from "./source-texts.ts";

export function addSource(program: CliCommand): void {
  const source = program
    .command("source")
    .description("APIs whose OpenAPI documents or GraphQL schemas become skills: the section sources of settings.yaml")
    .addHelpText("after", HELP);
  source
    .command("add")
    .description("write an API into settings.yaml, and read its document")
    .argument(
      "<document>",
      "the URL or the file of its OpenAPI document (JSON or YAML; 2.0, 3.0, 3.1), or a GraphQL endpoint or schema",
    )
    .requiredOption("--name <name>", "its name in the settings; the skill of github is GithubAPI, or GithubGraph")
    .option(
      "--server <url>",
      "the base URL of its requests (default: the first server of the document); with a GraphQL schema, the endpoint",
    )
    .option("--graphql", "it is a GraphQL API, also if neither /graphql nor .graphql ends its name")
    .option(
      "-H, --header <header>",
      "a header of all requests, such as 'Authorization: Bearer ${TOKEN}'; repeatable",
      collected,
    )
    .option("--account <name>", "the account of the settings with which its requests are made")
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
    .command("show")
    .description("show the operations of an API with their effects, or one of them with its declaration")
    .argument("<name>", "its name in the settings")
    .argument("[method]", "the name of a method")
    .run(showSource);
  source
    .command("check")
    .description("list what of a document is left out, and the POST operations that look as if they only read")
    .argument("<name>", "its name in the settings")
    .run(checkSource);
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
  skillgate source add https://api.example.com/graphql --name tracker -H 'Authorization: Bearer \${TRACKER_KEY}'
  skillgate source add ./tracker.graphql --name tracker --server https://api.example.com/graphql
  skillgate source check shop`;

interface AddSourceFlags {
  readonly name: string;
  readonly server?: string;
  readonly graphql?: true;
  readonly header?: readonly string[];
  readonly account?: string;
  readonly private?: true;
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
}

async function add(session: CliSession, document: string, flags: AddSourceFlags): Promise<CommandResult> {
  const { name, header = [], include, exclude } = flags;
  await requireFreeName(session, name);
  const settings = {
    ...(await describeDocument(document, flags)),
    ...(header.length > 0 && { headers: parseHeaders(header) }),
    ...withoutGaps({ account: flags.account, private: flags.private, include, exclude }),
  };
  const { addSource: addToSettings } = await import("../../../runtime/settings/index.ts");
  const status = await addToSettings(settings, {
    write: async (written) =>
      void (await editSettings(session, { values: [{ path: ["sources", name], value: written }] })),
    read: () => findSource(session, name, "new"),
  });
  if (status.error !== undefined && status.operations === 0)
    return {
      exit: "failed",
      json: { added: null, error: status.error },
      text: "",
      remarks: `Nothing was added. ${status.error}${status.kind === "openapi" && /graph|gql/i.test(document) ? "; add --graphql if it is a GraphQL API" : ""}`,
    };
  return {
    json: { added: name, ...status },
    text: lines([
      `Added ${name} to settings.yaml`,
      ...describeSource(status, session.paint.out),
      ...describeSecurity(status),
      ...proposeReads(name, (await session.openRuntime({ until: "known" })).listOperations(name)),
    ]),
  };
}

/** Returns the settings for the document of an API, and for its server. */
async function describeDocument(document: string, { server, graphql }: AddSourceFlags): Promise<SourceSettings> {
  const { describeAddedDocument } = await import("../../../runtime/settings/index.ts");
  const isUrl = /^https?:\/\//i.test(document);
  const location = isUrl ? document : toProjectPath(document);
  const text = isUrl ? undefined : await readFile(document, "utf8").catch(() => undefined);
  const settings = describeAddedDocument({ location, text, server, isGraphql: graphql === true });
  if (settings !== undefined) return settings;
  throw new UsageError(
    `${document} is a schema, which does not say where its API is; add --server with the endpoint, such as https://api.example.com/graphql`,
  );
}

async function requireFreeName(session: CliSession, name: string): Promise<void> {
  const { findSourceNameFlaw } = await import("../../../runtime/settings/index.ts");
  const flaw = findSourceNameFlaw(name);
  if (flaw !== undefined) throw new UsageError(`${flaw}; for example: --name shop`);
  if (Object.hasOwn(readSection(await session.openRuntime(), "sources"), name))
    throw new UsageError(
      `settings.yaml has a source ${name} already; choose another name, or remove it: skillgate source remove ${name}`,
    );
}

function toProjectPath(document: string): string {
  if (!existsSync(document)) throw new UsageError(`There is no file ${document}; write a file, or a URL with https://`);
  const path = relative(".", resolve(document)).replaceAll("\\", "/");
  return path.startsWith("..") ? resolve(document) : `./${path}`;
}

async function list(session: CliSession): Promise<CommandResult> {
  const runtime = await session.openRuntime({ until: "known" });
  const apis = runtime.listApis();
  const problems = listSettingProblems(runtime, "sources");
  const none = "No API is in the section sources of settings.yaml. Add one: skillgate source add URL --name NAME";
  return {
    json: { sources: apis, problems },
    text: lines([
      ...apis.flatMap((status) => describeSource(status, session.paint.out)),
      ...problems.map(({ error }) => `${session.paint.out.red("✗")} ${error}`),
      ...(apis.length + problems.length === 0 ? [none] : []),
    ]),
  };
}

async function refresh(session: CliSession, name: string): Promise<CommandResult> {
  await findSource(session, name);
  const runtime = await session.openRuntime();
  const status = await runtime.refreshApi(name);
  return {
    ...(status.error !== undefined && { exit: "failed" as const }),
    json: status,
    text: lines(describeSource(status, session.paint.out)),
  };
}

async function accept(session: CliSession, name: string): Promise<CommandResult> {
  const { changes, error } = await findSource(session, name);
  const runtime = await session.openRuntime();
  await runtime.acceptApi(name);
  return {
    ...(error !== undefined && { exit: "failed" as const }),
    json: { accepted: name, changes },
    text: lines([...changes.map(describeChange), `Accepted ${count(changes.length, "change")} of ${name}`]),
    remarks: error ?? "",
  };
}

async function remove(session: CliSession, name: string): Promise<CommandResult> {
  if (!Object.hasOwn(readSection(await session.openRuntime(), "sources"), name)) await findSource(session, name);
  await editSettings(session, { values: [{ path: ["sources", name], value: undefined }] });
  return { json: { removed: name }, text: `Removed ${name} from settings.yaml` };
}
