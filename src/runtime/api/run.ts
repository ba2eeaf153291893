import { OWNER, requireCaller, withAnswers } from "../../model/caller.ts";
import type { Outcome, Violation } from "../../model/outcome.ts";
import type { Plan } from "../../model/plan.ts";
import type { RunOptions } from "../../runtime.ts";
import type { RunnableProgram } from "../check-program.ts";
import { checkQueries } from "../refusals/check-queries.ts";
import type { RunRequest, RunServices } from "../execution/run-services.ts";
import { runCheckedProgram } from "../execution/run-checked-program.ts";
import { createRefusalHints } from "../refusals/refusal-hints.ts";
import { createRemoteRunner } from "../remote/remote-runner.ts";
import { requireText } from "../../shared/settings/option-names.ts";
import type { RuntimeServices } from "../services.ts";
import { requireRunOptions } from "../settings/run-options.ts";
import { traceRun } from "../trace-run.ts";
import type { RuntimeParts } from "./parts.ts";
import { createRequest } from "./request.ts";
import { runWhenKnown } from "./run-when-known.ts";
import { RunningLimit } from "./running-limit.ts";

/** Methods of a runtime that run and check programs. */
export interface RunApi {
  /** Rejects with `RATE_LIMIT` if the limits of the caller are used up. A program counts as its calls, and at least once. */
  run(source: string, options?: RunOptions): Promise<Outcome>;
  /** Looks at a program without running it, at once: texts in query languages are not checked. */
  check(source: string, options?: Omit<RunOptions, "signal">): CheckResult;
  /** Like `check`, and checks the texts that it writes in query languages, such as GraphQL, by the schemas of their APIs. */
  checkTexts(source: string, options?: Omit<RunOptions, "signal">): Promise<CheckResult>;
  /** Like `checkTexts`, and checks its types, too; waits for the compiler. */
  checkTypes(source: string, options?: Omit<RunOptions, "signal">): Promise<CheckResult>;
}

export interface CheckResult {
  readonly violations: readonly Violation[];
  readonly plan: Plan;
  readonly notes: readonly string[];
}

/** Creates the methods of a runtime that run and check programs. `requireOpen` throws if the runtime is closed. */
export function createRunApi(parts: RuntimeParts, services: RuntimeServices, requireOpen: () => void): RunApi {
  const runAndWait = createRecordedRunner(parts, services, requireOpen);
  return {
    async run(source, options = {}) {
      requireOpen();
      requireText("the program", source);
      requireRunOptions(options);
      return traceRun(async () => {
        const outcome = await runAndWait(source, options);
        parts.events.emit("run", outcome, { caller: requireCaller(options.caller).id });
        return outcome;
      });
    },
    check(source, options = {}) {
      const { violations, plan, notes } = inspectAtOnce(source, createRequest(options, parts), services);
      return { violations, plan, notes };
    },
    async checkTexts(source, options = {}) {
      const checked = inspectAtOnce(source, createRequest(options, parts), services);
      const { violations, plan, notes } = await checkQueries(checked, source);
      return { violations, plan, notes };
    },
    async checkTypes(source, options = {}) {
      const request = createRequest(options, parts);
      const checked = await checkQueries(inspectAtOnce(source, request, services), source);
      const { program, text, violations, plan, notes, outputs } = checked;
      if (program === undefined) return { violations, plan, notes };
      const types = await services.checkTypes({ source, text, program, plan, outputs }, request, TYPECHECK_MS);
      return { violations: types.violations, plan, notes: [...notes, ...types.notes] };
    },
  };
}

/** How long `checkTypes` waits for the check of one program. */
const TYPECHECK_MS = 10_000;

type Runner = (source: string, options: RunOptions) => Promise<Outcome>;

/** Creates the function that runs programs. An outcome waits until the records of the effects of its run are committed. */
function createRecordedRunner(parts: RuntimeParts, services: RuntimeServices, requireOpen: () => void): Runner {
  const run = createRunner(parts, services, requireOpen);
  const { audit } = parts;
  if (audit === undefined) return run;
  return async (...program) => {
    const outcome = await run(...program);
    await audit.commitEffects(outcome.runId);
    return outcome;
  };
}

/** Creates the function that runs programs. */
function createRunner(parts: RuntimeParts, services: RuntimeServices, requireOpen: () => void): Runner {
  const { registry, providers } = parts;
  const conversations = createRefusalHints();
  const running = new RunningLimit();
  const runRemotely = parts.executors && createRemoteRunner(parts, services, parts.executors);
  const runHere: Runner = async (source, options) => {
    const requestUnit = options.caller?.limits && (await services.router.countRequest(options.caller));
    const request = (): RunRequest => ({ ...createRequest(options, parts), requestUnit });
    const { resultSpace } = options;
    const ownServices = resultSpace === undefined ? services : { ...services, ...resultSpace };
    const run = async (): Promise<Outcome> => {
      requireOpen(); // it may have waited for skills until now
      return runCheckedProgram(source, request(), ownServices);
    };
    return runWhenKnown(source, run, providers);
  };
  return async (source, options) => {
    const { conversation, caller = OWNER, signal } = options;
    const outcome = await running.run(caller, signal, () => (runRemotely ?? runHere)(source, options));
    if (outcome.kind === "refused") {
      const { limits } = createRequest(options, parts);
      services.records.addRefused({ source, outcome, caller, limits });
    }
    if (conversation === undefined) return outcome;
    const catalog = registry.viewFor(withAnswers(caller, options.observer?.client));
    if (outcome.kind === "refused") await services.discovery.index(catalog).catch(() => {}); // then nothing is searched
    return conversations.addHint(conversation, outcome, catalog);
  };
}

/** Checks a program; indexes all methods first if a refusal needs them for its suggestions. */
function inspectAtOnce(source: string, request: RunRequest, { inspect, discovery }: RunServices): RunnableProgram {
  requireText("the program", source);
  const checked = inspect(source, request);
  if (checked.program !== undefined || discovery.isIndexed(request.catalog)) return checked;
  discovery.indexNow(request.catalog);
  return inspect(source, request);
}
