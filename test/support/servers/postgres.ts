import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

import { findFreePort } from "./free-port.ts";
import { reportMissingServer } from "./require-server.ts";

/** A server of PostgreSQL with an empty database, for the tests of one file. */
export interface PostgresServer {
  /** Returns the URL of a schema that no other test uses. */
  readonly url: () => string;
  /** Ends it at once, with the connections that are open, as a crash does. */
  kill(): Promise<void>;
  /** Starts it again on the same port, with what it has stored. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Returns the folder of PostgreSQL's programs; `undefined`, and a line on stderr, on a machine without PostgreSQL. A build
 * server must have it.
 */
export function findPostgres(): string | undefined {
  const programs = findPrograms();
  if (programs === undefined)
    reportMissingServer(
      "the tests with PostgreSQL, because initdb is not installed (Debian: apt-get install postgresql)",
    );
  return programs;
}

/** Starts a server in a temporary folder. */
export async function startPostgres(programs: string): Promise<PostgresServer> {
  const { folder, user, port, args } = await prepareFolder(programs);
  let server: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    // After a kill, processes of the server may still end: then it cannot start yet.
    for (;;) {
      const child = spawn(join(programs, "postgres"), args, {
        stdio: ["ignore", "ignore", "pipe"],
        cwd: folder,
        ...user,
      });
      server = child;
      if (await isAccepting(child.stderr)) return;
    }
  };
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, "exit");
    server.kill(signal);
    await ended;
  };
  await start();
  return {
    url: createUrls(port),
    kill: () => stop("SIGKILL"),
    start,
    async close() {
      // Ends at once, with the connections that are open.
      await stop("SIGINT");
      rmSync(folder, { recursive: true });
    },
  };
}

let shared: Promise<PostgresServer["url"]> | undefined;

/**
 * Returns the URLs of one server for all files of this process, which starts at the first call. It ends, and its folder is
 * removed, when this process has ended in any way: then the input of the shell ends that started it.
 */
export function sharePostgres(programs: string): Promise<PostgresServer["url"]> {
  return (shared ??= startShared(programs));
}

const WATCH = `folder=$1; shift; "$@" & server=$!; read -r _; kill -INT $server; wait $server; cd /; rm -rf "$folder"`;

async function startShared(programs: string): Promise<PostgresServer["url"]> {
  const { folder, user, port, args } = await prepareFolder(programs);
  const shell = spawn("/bin/sh", ["-c", WATCH, "sh", folder, join(programs, "postgres"), ...args], {
    stdio: ["pipe", "ignore", "pipe"],
    detached: true, // Ctrl-C ends this process first
    cwd: folder,
    ...user,
  });
  if (!(await isAccepting(shell.stderr))) throw new Error("PostgreSQL did not start");
  shell.unref();
  for (const stream of [shell.stdin, shell.stderr]) (stream as Socket).unref();
  return createUrls(port);
}

/** Creates an empty database in a temporary folder. Returns the arguments of its server. */
async function prepareFolder(programs: string): Promise<{
  readonly folder: string;
  readonly user: SystemUser | undefined;
  readonly port: number;
  readonly args: readonly string[];
}> {
  const user = findUser();
  const folder = mkdtempSync(join(tmpdir(), "skillgate-postgres-"));
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, "data");
  createCluster(data, programs, user);
  const port = await findFreePort();
  const settings = [
    "fsync=off",
    "listen_addresses=127.0.0.1",
    `unix_socket_directories=${folder}`,
    "shared_buffers=16MB",
  ];
  return { folder, user, port, args: ["-D", data, "-p", String(port), ...settings.flatMap((each) => ["-c", each])] };
}

/** Reads what a server writes until it accepts connections; false if it ends before. */
async function isAccepting(stderr: Readable): Promise<boolean> {
  const lines = createInterface(stderr);
  for await (const line of lines)
    if (line.includes("ready to accept connections")) {
      stderr.resume();
      return true;
    }
  return false;
}

/** Returns a function that returns the URL of another schema at each call. */
function createUrls(port: number): () => string {
  let schemas = 0;
  return () => `postgres://skillgate:secret@127.0.0.1:${port}/postgres?search_path=test_${++schemas}`;
}

/** Creates the files of an empty database. Later calls copy those of the first: `initdb` takes a second. */
function createCluster(data: string, programs: string, user: SystemUser | undefined): void {
  const initdb = join(programs, "initdb");
  const version = execFileSync(initdb, ["--version"], { encoding: "utf8" }).trim().replace(/\W+/g, "-");
  const first = join(".cache", `${version}-${user?.uid ?? process.getuid?.()}`);
  if (existsSync(first)) {
    execFileSync("cp", ["-a", first, data]);
    return;
  }
  const args = ["-D", data, "-U", "skillgate", "-A", "trust", "-E", "UTF8", "--no-sync"];
  execFileSync(initdb, args, { stdio: "pipe", cwd: dirname(data), ...user });
  mkdirSync(".cache", { recursive: true });
  const copy = `${first}-${process.pid}`;
  execFileSync("cp", ["-a", data, copy]);
  try {
    renameSync(copy, first);
  } catch {
    rmSync(copy, { recursive: true }); // another test was faster
  }
}

/** Debian installs the programs outside of PATH. */
function findPrograms(): string | undefined {
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian).map((version) => join(debian, version, "bin")) : [];
  const folders = [...versions, ...(process.env["PATH"] ?? "").split(delimiter)];
  return folders.find((folder) => existsSync(join(folder, "initdb")) && existsSync(join(folder, "postgres")));
}

interface SystemUser {
  readonly uid: number;
  readonly gid: number;
}

/** PostgreSQL refuses to run as root. */
function findUser(): SystemUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const name = getId("-u", "postgres") === undefined ? "nobody" : "postgres";
  return { uid: getId("-u", name) ?? 65_534, gid: getId("-g", name) ?? 65_534 };
}

function getId(flag: string, name: string): number | undefined {
  try {
    return Number(execFileSync("id", [flag, name], { encoding: "utf8", stdio: "pipe" }));
  } catch {
    return undefined;
  }
}
