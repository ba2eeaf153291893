import { createRequire } from "node:module";
import { resolve } from "node:path";
import { Readable, Writable } from "node:stream";
import { onTestFinished } from "vitest";

import { EXIT_CODES } from "../../../src/surfaces/cli/exit-codes.ts";
import type { openCommandTerminal, runCommand } from "../../../src/surfaces/cli/index.ts";

/** The surroundings of a command, which a process would get when it starts. */
export interface CommandSurroundings {
  readonly cwd: string;
  /** The whole environment. */
  readonly env: NodeJS.ProcessEnv;
  /** The text on stdin, which then ends; stdin is never a terminal. */
  readonly input: string;
}

export interface CommandEnd {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The program that a command line is for. */
export type RunCommand = typeof runCommand;

let last: Promise<unknown> = Promise.resolve();

/**
 * Runs a command line in this process: the same parsing, work and printing as in a process of its own, without the time
 * that its start takes. Commands run one after the other, because a process has one working folder and one environment.
 */
export function runCommandInProcess(
  args: readonly string[],
  surroundings: CommandSurroundings,
  program: RunCommand = loadCommand().runCommand,
): Promise<CommandEnd> {
  const interruption = new AbortController();
  onTestFinished(() => interruption.abort()); // if the test has failed before, so that other commands can run
  const run = last.then(() => runAlone(args, surroundings, { program, signal: interruption.signal }));
  last = run.catch(() => {});
  return run;
}

async function runAlone(
  args: readonly string[],
  { cwd, env, input }: CommandSurroundings,
  { program, signal }: { readonly program: RunCommand; readonly signal: AbortSignal },
): Promise<CommandEnd> {
  const [stdout, stderr] = [new Collector(), new Collector()];
  const restore = [
    replaceFolder(cwd),
    replaceEnvironment(env),
    replaceStream("stdin", Readable.from(input === "" ? [] : [Buffer.from(input)])),
    replaceStream("stdout", stdout),
    replaceStream("stderr", stderr),
    collectWarnings(stderr),
  ];
  try {
    const exit = await program(args, loadCommand().openCommandTerminal(args), {
      signal,
      exit: undefined,
      intercept: () => {},
      finish: () => {},
    });
    return { exit: EXIT_CODES[exit].code, stdout: stdout.text(), stderr: stderr.text() };
  } finally {
    for (const each of restore) each();
  }
}

/** Loads the bundle that a process loads, which takes a third of the time that the test runner needs for the sources. */
function loadCommand(): {
  readonly runCommand: typeof runCommand;
  readonly openCommandTerminal: typeof openCommandTerminal;
} {
  const load = createRequire(import.meta.url);
  return load(resolve(import.meta.dirname, "../../../dist/src/surfaces/cli/index.js"));
}

/** A stream that is not a terminal, and keeps what is written to it. */
class Collector extends Writable {
  readonly #chunks: Buffer[] = [];

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#chunks.push(chunk);
    done();
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString();
  }
}

function replaceFolder(cwd: string): () => void {
  const before = process.cwd();
  process.chdir(cwd);
  return () => process.chdir(before);
}

/** Changes the variables themselves, because the home folder and child processes are found through them. */
function replaceEnvironment(env: NodeJS.ProcessEnv): () => void {
  const before = { ...process.env };
  const set = (variables: NodeJS.ProcessEnv): void => {
    for (const name of Object.keys(process.env)) if (variables[name] === undefined) delete process.env[name];
    for (const [name, value] of Object.entries(variables)) if (value !== undefined) process.env[name] = value;
  };
  set(env);
  return () => set(before);
}

function replaceStream(name: "stdin" | "stdout" | "stderr", stream: Readable | Writable): () => void {
  const before = Object.getOwnPropertyDescriptor(process, name) ?? {};
  Object.defineProperty(process, name, { configurable: true, enumerable: true, value: stream });
  return () => void Object.defineProperty(process, name, before);
}

/** Node writes warnings past the stream. */
function collectWarnings(stderr: Writable): () => void {
  const write = ({ name, message }: Error): void => void stderr.write(`${name}: ${message}\n`);
  process.on("warning", write);
  return () => void process.off("warning", write);
}
