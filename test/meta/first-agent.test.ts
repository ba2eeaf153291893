// @module-tag rest

import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, expect, test } from "vitest";

import { runCommandInProcess } from "../surfaces/cli/command-line.ts";

const PAGE = readFileSync("docs/first-agent.md", "utf8");
const BIN = resolve("dist/src/bin.js");

const folder = mkdtempSync(join(tmpdir(), "skillgate-first-agent-"));
const env = { ...process.env, XDG_STATE_HOME: join(folder, "state"), XDG_CONFIG_HOME: join(folder, "config") };
const project = join(folder, "project");
mkdirSync(project);
symlinkSync(resolve("node_modules"), join(project, "node_modules")); // npx finds the server there
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Block {
  readonly language: string;
  readonly text: string;
}

test("builds the agent of docs/first-agent.md from its code blocks [O1, P6]", { timeout: 240_000 }, async () => {
  const blocks = readBlocks(PAGE);
  let printed = "";
  const exits: number[] = [];
  for (const { language, text } of blocks) {
    const file = /^(?:\/\/|#) (\S+\.\w+)\n/.exec(text)?.[1];
    if (file !== undefined) save(file, text);
    else if (language === "text") for (const line of text.trim().split("\n")) expect(printed).toContain(line.trim());
    else if (language === "sh") {
      const commands = text.split("\n").filter((line) => line.startsWith("skillgate"));
      const outputs: string[] = [];
      for (const command of commands.filter((each) => !isOpenEnded(each))) {
        const { exit, stdout, stderr } = await run(command, printed);
        outputs.push(stdout + stderr);
        exits.push(exit);
      }
      if (outputs.length > 0) printed = outputs.join("\n");
    }
  }
  // The run without a person waits for an approval; all other commands succeed.
  expect(exits.filter((status) => status !== 0)).toEqual([4]);
  expect(exits.length).toBeGreaterThan(12);
  await expectThreeTools();
  await expectConsole();
});

function readBlocks(page: string): readonly Block[] {
  return [...page.matchAll(/^```(\w+)\n([^]*?)^```$/gm)].map(([, language = "", text = ""]) => ({ language, text }));
}

/** Saves a block with the name of a file; settings are added to those that `init` wrote. */
function save(file: string, text: string): void {
  const path = join(project, file);
  mkdirSync(dirname(path), { recursive: true });
  if (file === "settings.yaml") appendFileSync(path, text);
  else writeFileSync(path, file.endsWith(".txt") ? text.split("\n").slice(1).join("\n") : text);
}

/** The console serves until it is stopped, and `ask` needs a model: both are tried in their own way, or elsewhere. */
function isOpenEnded(command: string): boolean {
  return /^skillgate (?:console|ask)\b/.test(command);
}

/** Runs a command of the page. `ID` is the identifier of the request that the command before has listed. */
function run(command: string, before: string): ReturnType<typeof runCommandInProcess> {
  const id = /^(\w+) +pending/m.exec(before)?.[1] ?? /\brequest (\w{10})\b/i.exec(before)?.[1] ?? "ID";
  const words = command.replace(/\bID\b/, id).match(/'[^']*'|"[^"]*"|\S+/g) ?? [];
  const args = words.slice(1).map((word) => word.replace(/^(['"])(.*)\1$/, "$2"));
  return runCommandInProcess(args, { cwd: project, env, input: "" });
}

async function expectThreeTools(): Promise<void> {
  const client = new Client({ name: "client", version: "1" });
  const args = [BIN, "serve", "--stdio"];
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args, cwd: project, env, stderr: "ignore" }),
  );
  try {
    const { tools } = await client.listTools();
    const names = tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["search_skills", "describe_function", "run_code"]));
  } finally {
    await client.close();
  }
}

async function expectConsole(): Promise<void> {
  const child = spawn(process.execPath, [BIN, "console"], { cwd: project, env, stdio: ["ignore", "pipe", "pipe"] });
  try {
    const url = await new Promise<string>((found, failed) => {
      let text = "";
      const read = (chunk: Buffer): void => {
        text += String(chunk);
        const [url] = /http:\/\/[^\s/]+/.exec(text) ?? [];
        if (url !== undefined) found(`${url}/`);
      };
      child.stdout.on("data", read);
      child.stderr.on("data", read);
      child.on("exit", () => failed(new Error(text)));
    });
    const answer = await fetch(url);
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain("<title>Skillgate</title>");
  } finally {
    // Until it has ended, it may write what servers offer into the folder.
    if (child.kill()) await once(child, "exit");
  }
}
