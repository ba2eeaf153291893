import { approvalsFile, approve, canonicalPath } from "./approvals.ts";
import { type Input, inputVariable, undeclaredInput } from "./inputs.ts";
import { startedBy } from "./started.ts";
import type { DeclaredServer, ServerSources } from "./servers.ts";
import { placeholdersIn, type Variables } from "./variables.ts";

/** A person who can be asked what configuration leaves open. */
export interface Person {
  /** The answer to `${input:id}`; `undefined` if there is none. */
  input(input: Input): Promise<string | undefined>;
  /** Whether the servers that a file of the project declares may be started. */
  mayStart(request: StartRequest): Promise<boolean>;
}

/** Servers of one file that nobody has approved yet as they are now. */
export interface StartRequest {
  readonly file: string;
  readonly servers: readonly {
    readonly name: string;
    /** Its command or its address, and whatever else decides what it does. */
    readonly starts: string;
    readonly isChanged: boolean;
  }[];
}

/** Asks for what is open of the servers that count, and remembers what was approved. Gives the answers to inputs. */
export async function askPerson(
  person: Person,
  declared: readonly DeclaredServer[],
  sources: ServerSources,
): Promise<Variables> {
  const wanted = declared.filter(({ isOverruled, config }) => !isOverruled && config?.enabled === true);
  const approved = await askToStart(person, wanted, sources);
  const answers = new Map<string, string>();
  for (const input of approved.flatMap((server) => openInputs(server, sources))) {
    if (answers.has(input.id)) continue;
    const answer = await person.input(input);
    if (answer !== undefined) answers.set(input.id, answer);
  }
  return (id) => answers.get(id);
}

/** The servers that may be started, after all that are not approved yet were asked about, file by file. */
async function askToStart(
  person: Person,
  wanted: readonly DeclaredServer[],
  { env, folders }: ServerSources,
): Promise<readonly DeclaredServer[]> {
  const allowed: DeclaredServer[] = [];
  for (const file of new Set(wanted.map((server) => server.file))) {
    const servers = wanted.filter((server) => server.file === file);
    const open = servers.filter(({ approval }) => approval !== "approved");
    const request = { file: file.label, servers: open.map(requested) };
    const isAllowed = open.length === 0 || (await person.mayStart(request));
    if (isAllowed && open.length > 0)
      await approve(approvalsFile(env, folders.home), canonicalPath(file.path), digestsOf(open));
    allowed.push(...(isAllowed ? servers : servers.filter((server) => !open.includes(server))));
  }
  return allowed;
}

function requested({ name, entry, approval }: DeclaredServer): StartRequest["servers"][number] {
  return { name, starts: startedBy(entry), isChanged: approval === "changed" };
}

/** What is approved, by the names of the servers. */
export function digestsOf(servers: readonly DeclaredServer[]): ReadonlyMap<string, string> {
  return new Map(servers.map(({ name, digest }) => [name, digest]));
}

/** The inputs of a server that the environment does not answer. */
function openInputs({ entry, inputs }: DeclaredServer, { variables }: ServerSources): readonly Input[] {
  const ids = placeholdersIn(JSON.stringify(entry)).filter(({ kind }) => kind === "input");
  return ids
    .filter(({ name }) => variables(inputVariable(name)) === undefined)
    .map(({ name }) => inputs.get(name) ?? undeclaredInput(name));
}
