import { realpath, stat } from "node:fs/promises";
import { basename, dirname, extname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { createError, sentence, SkillgateError } from "../errors.ts";
import { type Caller, OWNER } from "../model/caller.ts";
import type { Client } from "../model/client-requests.ts";
import type { JsonSchema } from "../model/json.ts";
import type { AccountRequest, CallContext, MethodDefinition, ProvidedSkill, SkillAccount } from "../model/skill.ts";
import { loadSkills } from "../providers/skills/index.ts";
import { parseCassette } from "../runs/index.ts";
import { createRuntime, type RunOptions, type Runtime } from "../runtime.ts";
import { createAccountResponse } from "../shared/http/account-response.ts";
import { releaseProcesses, shareProcesses } from "./shared-processes.ts";

export interface TestOptions {
  /** Name of the skill to test, if the module has several. */
  readonly skill?: string;
  /** The caller; by default one with all permissions. */
  readonly caller?: Caller;
  /** Values of `context.settings`. */
  readonly settings?: CallContext["settings"];
  /** Values of `context.secrets`. */
  readonly secrets?: CallContext["secrets"];
  /** Answers approval requests; approves by default. */
  readonly approve?: () => boolean;
  /**
   * Runs the skill in the process of the test, so that a breakpoint of an editor stops in it. Calls have no timeout, and a skill
   * that hangs is not stopped. Off by default: the skill has a process of its own, as in the runtime.
   */
  readonly inProcess?: boolean;
  /** Answers requests of `context.client`; absent by default. */
  readonly client?: Client;
  /** Answers the requests of `context.account(name).fetch`, by the name of the account. */
  readonly accounts?: Readonly<Record<string, AnswerAccountRequest>>;
}

/** Answers a request that a skill makes with an account: 200 with this body by default; one that is no text or bytes is JSON. */
export type AnswerAccountRequest = (url: string, request: AccountRequest) => TestedAnswer | Promise<TestedAnswer>;

export interface TestedAnswer {
  readonly status?: number;
  /** By names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** A skill loaded from its file and called through all guards, with an empty store. */
export interface TestedSkill extends AsyncDisposable {
  readonly name: string;
  /** Names of its methods. */
  readonly methods: readonly string[];
  /** Calls a method with named arguments. Rejects with the error that the caller would receive. */
  call(
    method: string,
    input?: Readonly<Record<string, unknown>>,
    options?: Pick<TestOptions, "caller">,
  ): Promise<unknown>;
  /** Runs a program and returns its value. Rejects with the text that a model would receive. */
  run(program: string, options?: Pick<TestOptions, "caller">): Promise<unknown>;
  /** Log lines and output so far, as `level: text`. */
  readonly logged: readonly string[];
  /** Problems of the module, such as types that could not be read. */
  readonly problems: readonly string[];
  /** Unloads it; the last skill of a folder ends their process. A test ends even without this call. */
  close(): Promise<void>;
}

/**
 * Opens a skill for a test: the module at a path or URL, or the result of `defineSkill`. Throws `SKILL_INVALID`, with
 * the reason, if the module cannot be loaded.
 */
export async function testSkill(source: string | URL | ProvidedSkill, options: TestOptions = {}): Promise<TestedSkill> {
  const logged: string[] = [];
  const log = (level: string, text: string): unknown => logged.push(`${level}: ${text}`);
  const { skills, problems, close } = await open(source, log, options.inProcess ?? false);
  const skill = skills.find(({ name }) => options.skill === undefined || name === options.skill);
  if (skill === undefined) {
    await close();
    throw new SkillgateError("SKILL_INVALID", problems[0] ?? noSkill(options.skill, skills));
  }
  const { caller = OWNER, approve = () => true, client } = options;
  const follows = client && { observer: { client } };
  const runtime = await createRuntime({
    skillsDir: false,
    skills: skills.map((each) => withBelongings(each, options)),
    workers: 1,
    // A program of a test runs at once: whether the compiler is loaded by then would be a matter of time.
    typecheck: false,
    approve,
    log,
  });
  const { name, methods } = skill;
  const closeAll = async (): Promise<void> => void (await Promise.all([runtime.close(), close()]));
  return {
    name,
    methods: methods.map((method) => method.name),
    logged,
    problems,
    call: (method, input = {}, by = {}) => {
      const path = method.includes(".") ? method : `${name}.${method}`;
      return runtime.call(path, input, { caller: by.caller ?? caller, ...follows });
    },
    run: (program, by = {}) => runForValue(runtime, program, { caller: by.caller ?? caller, ...follows }),
    close: closeAll,
    [Symbol.asyncDispose]: closeAll,
  };
}

interface OpenedSkill {
  readonly skills: readonly ProvidedSkill[];
  readonly problems: readonly string[];
  readonly close: () => Promise<void>;
}

async function open(
  source: string | URL | ProvidedSkill,
  log: (level: string, text: string) => void,
  inProcess: boolean,
): Promise<OpenedSkill> {
  if (typeof source !== "string" && !(source instanceof URL)) {
    return { skills: [source], problems: [], close: async () => undefined };
  }
  const isUrl = source instanceof URL || source.startsWith("file:");
  const path = isUrl ? fileURLToPath(source) : resolve(source);
  const facts = await stat(path).catch(() => undefined);
  if (facts === undefined) {
    throw createError("SKILL_INVALID", `there is no file ${basename(path)}`);
  }
  const isEntry = facts.isFile() && isFolderEntry(path);
  const entry = isEntry ? dirname(path) : path;
  const folder = await realpath(dirname(entry));
  const names: string[] = [];
  const user = { path: join(folder, basename(entry)), names, log };
  const processes = inProcess ? undefined : await shareProcesses(folder, user);
  const provider = await loadSkills(folder, { only: path, log, inProcess, processes });
  const { skills } = provider;
  names.push(...skills.map(({ name }) => name));
  const problems = provider.problems.map(({ error, frame }) => (frame === undefined ? error : `${error}\n${frame}`));
  const close = async (): Promise<void> => {
    await provider.close();
    await releaseProcesses(folder, user);
  };
  return { skills, problems, close };
}

/** `weather/skill.ts` and `weather/weather.ts` are the skill of the folder `weather`. */
function isFolderEntry(path: string): boolean {
  const stem = basename(path, extname(path));
  return ["skill", "main", "index", basename(dirname(path))].includes(stem);
}

function noSkill(name: string | undefined, skills: readonly ProvidedSkill[]): string {
  const names = skills.map(({ name }) => name).join(", ");
  return sentence(
    "SKILL_INVALID",
    name === undefined ? "the module has no skill" : `the module has no skill "${name}"; it has ${names}`,
  );
}

function withBelongings(
  skill: ProvidedSkill,
  { settings = {}, secrets = {}, accounts = {}, inProcess = false }: TestOptions,
): ProvidedSkill {
  const declared = new Set(skill.methods.flatMap((method) => method.accounts ?? []));
  return {
    ...skill,
    // The test stands in for the accounts.
    methods: skill.methods.map(({ accounts: _accounts, ...method }) => (inProcess ? withoutTimeout(method) : method)),
    ...(skill.settings !== undefined && { settings: withoutRequired(skill.settings, { ...settings, ...secrets }) }),
    invoke: (method, input, context) =>
      skill.invoke(method, input, {
        ...context,
        settings: { ...context.settings, ...settings },
        secrets: { ...context.secrets, ...secrets },
        account(name) {
          const answer = accounts[name];
          if (!declared.has(name)) throw new Error(`${skill.name} uses the account ${name} and does not declare it`);
          if (answer === undefined)
            throw new Error(`The test has no account ${name}: testSkill(…, { accounts: { ${name}: … } })`);
          return createTestedAccount(answer);
        },
      }),
  };
}

function withoutTimeout(method: MethodDefinition): MethodDefinition {
  return { ...method, metadata: { ...method.metadata, timeoutMs: MAX_TIMEOUT_MS } };
}

/** The longest delay of a Node timer: 24 days. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

function createTestedAccount(answer: AnswerAccountRequest): SkillAccount {
  return {
    async fetch(url, request = {}) {
      const { status = 200, headers = {}, body = "" } = await answer(String(url), request);
      const isJson = typeof body !== "string" && !(body instanceof Uint8Array);
      const sent = body instanceof Uint8Array ? body : Buffer.from(isJson ? JSON.stringify(body) : body);
      return createAccountResponse({ status, headers, body: new Uint8Array(sent) });
    },
    credential: () => Promise.reject(new Error("A test has no credentials")),
  };
}

/** Requires only the settings that the test does not provide. */
function withoutRequired(schema: JsonSchema, provided: Readonly<Record<string, unknown>>): JsonSchema {
  const required: unknown = schema["required"];
  if (!Array.isArray(required)) return schema;
  return { ...schema, required: required.filter((name) => !Object.hasOwn(provided, String(name))) };
}

async function runForValue(runtime: Runtime, program: string, options: RunOptions): Promise<unknown> {
  const outcome = await runtime.run(program, options);
  if (outcome.kind === "completed") return outcome.value;
  throw new Error(outcome.text, outcome.kind === "failed" ? { cause: outcome.error.cause } : {});
}

/**
 * Executes the program of a recorded run again with the recorded answers, without its providers. Rejects with `REPLAY_DIVERGED`,
 * which names the first difference, and with `RUN_DAMAGED` for a cassette that cannot be read.
 */
export async function replayCassette(cassette: unknown): Promise<void> {
  await using runtime = await createRuntime({ skillsDir: false, skills: [], workers: 1, runs: { record: "off" } });
  await runtime.runs.replay(parseCassette(cassette));
}
