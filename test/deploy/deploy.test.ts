// @module-tag rest

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { createInterface } from "node:readline";
import { describe, expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";

import { usePostgres } from "../support/databases.ts";
import { findFreePort } from "../support/servers/free-port.ts";
import { NATS_SERVER, startNats } from "../support/servers/nats.ts";
import { BIN } from "../surfaces/cli/command.ts";
import { readUnit } from "./units.ts";

const TOKEN = "a-token-of-more-than-thirty-two-characters";
const SKILL = `/** Repeats. */ export class EchoSkill { /** Say.\n * @param {string} text\n * @readonly */ say(text) { return text; } }`;
const UNITS = ["skillgate.service", "skillgate-front.service", "skillgate-executor.service"];

const postgres = usePostgres();

/** Creates a project, and returns what replaces the paths of the files. */
function createPlace(): { readonly folder: string; readonly paths: Readonly<Record<string, string>> } {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-deploy-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "project/skills"), { recursive: true });
  mkdirSync(join(folder, "state"));
  writeFileSync(join(folder, "project/skills/echo.mjs"), SKILL);
  const program = join(folder, "skillgate");
  writeFileSync(program, `#!/bin/sh\nexec ${process.execPath} ${BIN} "$@"\n`);
  chmodSync(program, 0o755);
  const paths = {
    "/usr/bin/skillgate": program,
    "/srv/skillgate": join(folder, "project"),
    "/var/lib/skillgate": join(folder, "state"),
    // No user can create a folder there, not even root.
    "/nonexistent": "/dev/null/home",
  };
  return { folder, paths };
}

interface StartedCommand {
  readonly child: ChildProcess;
  stop(): Promise<number | null>;
}

interface Command {
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly folder: string;
}

/** Starts a command, and resolves when its log has the text. */
async function startCommand({ command, environment, folder }: Command, text: string): Promise<StartedCommand> {
  const [program = "", ...args] = command;
  const env = { PATH: process.env["PATH"], ...environment };
  const child = spawn(program, args, { cwd: join(folder, "project"), env, stdio: ["ignore", "ignore", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines: string[] = [];
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stderr }).on("line", (line) => {
      lines.push(line);
      if (line.includes(text)) resolve();
    });
    child.once("exit", () => reject(new Error(lines.join("\n"))));
  });
  return {
    child,
    async stop() {
      const exited = once(child, "exit");
      child.kill("SIGTERM");
      return ((await exited) as [number | null])[0];
    },
  };
}

/** Runs a program as a client behind the reverse proxy does. */
async function runProgram(port: number, host: string, token = TOKEN): Promise<unknown> {
  const headers = { host, authorization: `Bearer ${token}`, "content-type": "application/json" };
  const sent = request({ port, host: "127.0.0.1", path: "/tools/run_code", method: "POST", headers });
  sent.end(JSON.stringify({ code: `await device.EchoSkill.say("here")` }));
  const [response] = await once(sent, "response");
  return json(response);
}

const HERE = { success: true, data: { kind: "completed", value: "here" } };

test("serves with the unit of one machine, and writes only into its state folder", async () => {
  const { folder, paths } = createPlace();
  const port = await findFreePort();
  const unit = readUnit("skillgate.service", { SKILLGATE_TOKEN: TOKEN }, { ...paths, 3333: String(port) });
  const files = readdirSync(join(folder, "project"), { recursive: true });
  const server = await startCommand({ ...unit, folder }, "MCP at");
  expect(await runProgram(port, `localhost:${port}`)).toMatchObject(HERE);
  expect(await runProgram(port, `localhost:${port}`, "wrong")).toMatchObject({ status: 401 });
  expect(unit.successCodes).toContain(await server.stop());
  expect(readdirSync(join(folder, "project"), { recursive: true })).toEqual(files);
});

describe.skipIf(NATS_SERVER === undefined)("many machines", () => {
  test("serves with the units of a front and an executor, the accounts and the settings [O3, P7]", async () => {
    const { folder, paths } = createPlace();
    const { url } = await openNats();
    writeFileSync(join(folder, "project/settings.yaml"), readFileSync("deploy/settings.yaml"));
    const variables = {
      SKILLGATE_TOKEN: TOKEN,
      DATABASE_URL: postgres?.url() ?? "",
      FRONT_NATS_URL: url.replace("//", "//front:one@"),
      EXECUTOR_NATS_URL: url.replace("//", "//executor:two@"),
    };
    const port = await findFreePort();
    const read = (name: string): ReturnType<typeof readUnit> =>
      readUnit(name, variables, { ...paths, 3333: String(port) });
    const units = [read("skillgate-front.service"), read("skillgate-executor.service")] as const;
    const front = await startCommand({ ...units[0], folder }, "MCP at");
    const executor = await startCommand({ ...units[1], folder }, "connected to");
    expect(await runProgram(port, "skillgate.example.com")).toMatchObject(HERE);
    expect(await runProgram(port, "other.example.com")).not.toMatchObject(HERE);
    expect(await executor.stop()).toBe(0);
    expect(units[0].successCodes).toContain(await front.stop());
  });

  test("serves with the commands of the compose file [O3]", async () => {
    const { folder, paths } = createPlace();
    const { url } = await openNats();
    const port = await findFreePort();
    writeFileSync(join(folder, "project/settings.yaml"), readFileSync("deploy/settings.yaml"));
    const variables: Readonly<Record<string, string>> = {
      SKILLGATE_TOKEN: TOKEN,
      FRONT_PASSWORD: "one",
      EXECUTOR_PASSWORD: "two",
      POSTGRES_PASSWORD: "secret",
    };
    const text = readFileSync("deploy/compose.yaml", "utf8")
      .replace(/\$\{(\w+):\?\}/g, (_, name: string) => variables[name] ?? "")
      .replaceAll("nats:4222", new URL(url).host)
      .replaceAll("0.0.0.0", "127.0.0.1")
      .replaceAll("3333", String(port))
      .replaceAll("postgres://skillgate:secret@postgres/skillgate", postgres?.url() ?? "");
    const { services } = parse(text, { merge: true }) as { readonly services: Readonly<Record<string, Service>> };
    const image = readImage(paths);
    const start = ({ command = [], environment = {} }: Service, line: string): Promise<StartedCommand> =>
      startCommand(
        { command: [...image.entrypoint, ...command], environment: { ...image.environment, ...environment }, folder },
        line,
      );
    await start(services["front"] ?? {}, "MCP at");
    await start(services["executor"] ?? {}, "connected to");
    expect(await runProgram(port, `localhost:${port}`)).toMatchObject(HERE);
  });
});

/** A service of the compose file. */
interface Service {
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

/** Reads the parts of the Dockerfile that a process gets. */
function readImage(paths: Readonly<Record<string, string>>): {
  readonly entrypoint: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
} {
  let text = readFileSync("deploy/Dockerfile", "utf8").replace('["skillgate"]', '["/usr/bin/skillgate"]');
  for (const [path, other] of Object.entries(paths)) text = text.replaceAll(path, other);
  const [, variables = ""] = /^ENV (.*)$/m.exec(text) ?? [];
  const [, entrypoint = "[]"] = /^ENTRYPOINT (.*)$/m.exec(text) ?? [];
  return {
    entrypoint: JSON.parse(entrypoint) as string[],
    environment: Object.fromEntries(variables.split(" ").map((pair) => pair.split(/=(.*)/).slice(0, 2))) as Record<
      string,
      string
    >,
  };
}

async function openNats(): Promise<{ readonly url: string }> {
  const config = readFileSync("deploy/nats.conf", "utf8")
    .replace(/^listen:.*$/m, "")
    .replace("$FRONT_PASSWORD", "one")
    .replace("$EXECUTOR_PASSWORD", "two");
  const server = await startNats(config);
  onTestFinished(() => server.close());
  return server;
}

const HAS_SYSTEMD = spawnSync("systemd-analyze", ["--version"]).status === 0;

describe.skipIf(!HAS_SYSTEMD)("systemd", () => {
  const verify = (name: string, change = (text: string): string => text): string => {
    const { folder, paths } = createPlace();
    const file = join(folder, name);
    const text = readFileSync(`deploy/${name}`, "utf8").replace(
      "/usr/bin/skillgate",
      paths["/usr/bin/skillgate"] ?? "",
    );
    writeFileSync(file, change(text));
    const { stderr } = spawnSync("systemd-analyze", ["verify", file], { encoding: "utf8" });
    return stderr
      .split("\n")
      .filter((line) => line.includes(name))
      .join("\n");
  };

  test.each(UNITS)("accepts %s", (name) => {
    expect(verify(name)).toBe("");
  });

  test("finds a setting that does not exist", () => {
    const change = (text: string): string => text.replace("Restart=", "Restarts=");
    expect(verify("skillgate.service", change)).toContain("Restarts");
  });
});
