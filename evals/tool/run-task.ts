import { cp, mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { AgentDone, AgentEvent, AgentOptions } from "../../src/agent/index.ts";
import type { Runtime } from "../../src/runtime.ts";
import { loadAgentModule } from "../../src/surfaces/cli/agent/open-agent.ts";
import { checkRun, countEffects, type TaskEnd } from "./check-run.ts";
import type { EvalTask } from "./task.ts";

/** One run of a task, and what it took. */
export interface TaskRun {
  readonly passed: boolean;
  /** A sentence about each condition that does not hold, and each failure. */
  readonly problems: readonly string[];
  readonly answer: string;
  readonly turns: number;
  /** Calls of methods. */
  readonly calls: number;
  /** Successful calls that can have an effect. */
  readonly effects: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly seconds: number;
}

/** The model and its limits. */
export type TaskModel = Pick<AgentOptions, "model" | "mode" | "budgets" | "settings" | "readVariable">;

/** Lets a model work on a task, with fixtures of its own, and checks how it ended. Throws errors of the configuration. */
export async function runTask(task: EvalTask, model: TaskModel, signal: AbortSignal): Promise<TaskRun> {
  const base = await realpath(await mkdtemp(join(tmpdir(), "skillgate-eval-")));
  const workFolder = join(base, "work");
  try {
    await mkdir(workFolder);
    if (task.files !== undefined) await cp(task.files, workFolder, { recursive: true });
    await using runtime = await openFixtures(task, { workFolder, store: join(base, "store") });
    await runtime.ready;
    signal.throwIfAborted();
    if (runtime.problems.length > 0) return createUnstartedRun(runtime);
    const end = await work(task, { ...model, runtime }, { workFolder, signal });
    return runtime.secrets.maskValue(await createTaskRun(task, end));
  } finally {
    await rm(base, { recursive: true, force: true });
  }
}

/** The fixtures refer to `${TASK_DIR}`, the folder of the task, and to `${WORK_DIR}`, the folder with the copied files. */
async function openFixtures(
  { skills, servers, folder }: EvalTask,
  { workFolder, store }: { readonly workFolder: string; readonly store: string },
): Promise<Runtime> {
  const { createRuntime } = await import("../../src/runtime.ts");
  return createRuntime({
    cwd: workFolder,
    store,
    skillsDir: skills ?? false,
    mcpServers: servers,
    env: { ...process.env, TASK_DIR: folder, WORK_DIR: workFolder },
    workers: 1,
  });
}

async function work(
  { request, approve }: EvalTask,
  options: TaskModel & { readonly runtime: Runtime },
  { workFolder, signal }: { readonly workFolder: string; readonly signal: AbortSignal },
): Promise<TaskEnd & { readonly done: AgentDone | undefined }> {
  const { createAgent } = await loadAgentModule();
  let approvals = 0;
  const agent = createAgent({
    ...options,
    approve: () => {
      approvals += 1;
      return approve;
    },
  });
  const events: AgentEvent[] = [];
  for await (const event of agent.send(request, { signal })) events.push(event);
  signal.throwIfAborted();
  const last = events.at(-1);
  const done = last?.type === "done" ? last : undefined;
  return { runtime: options.runtime, events, answer: done?.text ?? "", approvals, workFolder, done };
}

async function createTaskRun(
  { check }: EvalTask,
  end: TaskEnd & { readonly done: AgentDone | undefined },
): Promise<TaskRun> {
  const { done, events, answer } = end;
  const failures = events.flatMap((event) => (event.type === "error" ? [event.error.message] : []));
  const ended =
    done?.reason === "budget" ? [`the ${done.budget ?? "budget"} of the budget were used up before the answer`] : [];
  const problems = [...failures, ...ended, ...(failures.length > 0 ? [] : await checkRun(check, end))];
  return {
    passed: problems.length === 0,
    problems,
    answer,
    turns: events.filter(({ type }) => type === "usage").length,
    calls: done?.calls ?? 0,
    effects: countEffects(end),
    inputTokens: done?.usage.inputTokens ?? 0,
    outputTokens: done?.usage.outputTokens ?? 0,
    seconds: (done?.durationMs ?? 0) / 1_000,
  };
}

/** The run of a task whose fixtures cannot be used. */
function createUnstartedRun({ problems }: Runtime): TaskRun {
  const sentences = problems.map(({ source, error }) => `fixture ${source}: ${error}`);
  return {
    passed: false,
    problems: sentences,
    answer: "",
    turns: 0,
    calls: 0,
    effects: 0,
    inputTokens: 0,
    outputTokens: 0,
    seconds: 0,
  };
}
