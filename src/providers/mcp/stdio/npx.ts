import { execFile } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";

import { isRecord } from "../../../model/json.ts";
import type { KeyValueCache } from "../../../shared/file-cache.ts";
import type { ServerCommand } from "./process.ts";
import { makeFolderSync } from "../../../shared/files/make-folder.ts";

/** How long a resolved version is reused if the requested one is not exact. */
const FRESH_MS = 24 * 3_600_000;

/** The package and program that a command line requests from npx. */
interface NpxRequest {
  /** `@scope/name@1.2.3` */
  readonly spec: string;
  /** The program in the package; `undefined` for its default program. */
  readonly program: string | undefined;
  readonly args: readonly string[];
}

/**
 * Replaces `npx` by the program that it would start, which saves a process and a registry request at each start. Command
 * lines that are not understood keep `npx`. The package is resolved in `folder`: npm obeys the `.npmrc` and uses the
 * packages of the folder in which it runs.
 */
export async function withoutNpx(
  command: ServerCommand,
  folder: string,
  { programs, signal }: { readonly programs: KeyValueCache; readonly signal: AbortSignal },
): Promise<ServerCommand> {
  if (!isNpx(command.command)) return command;
  const isElsewhere = folder !== command.cwd;
  if (isElsewhere && folder !== homedir()) makeRoot(folder);
  const asIs = isElsewhere ? { ...command, cwd: folder } : command;
  const request = process.platform === "win32" ? undefined : readNpx(command.args);
  if (request === undefined) return asIs;
  const key = JSON.stringify([folder, request.spec, request.program]);
  const stored = programs.get(key);
  const script = knownScript(stored, request) ?? (await findScript(asIs, request, signal));
  if (script === undefined) return asIs;
  if (stored === undefined || !isExact(request)) programs.set(key, { script, foundAt: Date.now() });
  const args = [...request.args];
  return isNodeScript(script)
    ? { ...command, command: "node", args: [script, ...args] }
    : { ...command, command: script, args };
}

function isNpx(command: string): boolean {
  return /^npx(?:\.cmd|\.exe)?$/i.test(basename(command.replaceAll("\\", "/")));
}

/** Creates a folder that npm takes for a project root, so that it reads no configuration above it. */
function makeRoot(folder: string): void {
  makeFolderSync(folder, 0o700);
  const file = join(folder, "package.json");
  if (!existsSync(file)) writeFileSync(file, '{ "private": true }\n');
}

/** `-y name@1 …`, `--package=name@1 program …` */
function readNpx(args: readonly string[]): NpxRequest | undefined {
  let spec: string | undefined;
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? "";
    if (arg === "-y" || arg === "--yes" || arg === "-q" || arg === "--quiet") continue;
    if (arg === "-p" || arg === "--package") spec = args[++at];
    else if (arg.startsWith("--package=")) spec = arg.slice("--package=".length);
    else if (arg.startsWith("-") && arg !== "--") return undefined;
    else return wantedFrom(spec, args.slice(arg === "--" ? at + 1 : at));
  }
  return undefined;
}

function wantedFrom(spec: string | undefined, [first, ...args]: readonly string[]): NpxRequest | undefined {
  if (first === undefined || !NAME.test(spec ?? first)) return undefined;
  return spec === undefined ? { spec: first, program: undefined, args } : { spec, program: first, args };
}

/** A package in a registry; excludes paths and URLs. */
const NAME = /^((?:@[\w.-]+\/)?[\w-][\w.-]*)(?:@([\w.^~+-]+))?$/;

function isExact({ spec }: NpxRequest): boolean {
  return /^\d+\.\d+\.\d+(?:[-+][\w.+-]+)?$/.test(NAME.exec(spec)?.[2] ?? "");
}

function knownScript(stored: unknown, request: NpxRequest): string | undefined {
  if (!isRecord(stored)) return undefined;
  const { script, foundAt } = stored;
  const isFresh = isExact(request) || (typeof foundAt === "number" && Date.now() - foundAt < FRESH_MS);
  return typeof script === "string" && isFresh && existsSync(script) ? script : undefined;
}

/** Lets npx install the package if it is missing, and finds the program in the `PATH` of npx. */
async function findScript(
  command: ServerCommand,
  request: NpxRequest,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { cwd, env } = command;
  const args = ["--yes", `--package=${request.spec}`, "-c", 'echo "$PATH"'];
  try {
    const { stdout } = await promisify(execFile)(command.command, args, { cwd, env, signal });
    const folders = stdout
      .trim()
      .split(delimiter)
      .filter((folder) => basename(folder) === ".bin");
    return folders.map((folder) => scriptIn(dirname(folder), request)).find((script) => script !== undefined);
  } catch {
    return undefined; // npx reports the error itself when it is started
  }
}

function scriptIn(modules: string, { spec, program }: NpxRequest): string | undefined {
  const name = NAME.exec(spec)?.[1] ?? spec;
  const folder = join(modules, name);
  const file = join(folder, "package.json");
  if (!existsSync(file)) return undefined;
  const { bin }: { readonly bin?: unknown } = JSON.parse(readFileSync(file, "utf8")) as object;
  const programs = isRecord(bin) ? bin : { [basename(name)]: bin };
  const names = Object.keys(programs);
  const target = program ?? (names.length === 1 ? names[0] : basename(name));
  const script = target !== undefined && Object.hasOwn(programs, target) ? programs[target] : undefined;
  return typeof script === "string" ? join(folder, script) : undefined;
}

function isNodeScript(script: string): boolean {
  const [first = ""] = readFileSync(script, "utf8").split("\n", 1);
  return /^#!.*\bnode\b/.test(first);
}
