import type { RunObserver } from "../../model/run-observer.ts";
import { runCode } from "../../runtime/builtin-tools/index.ts";
import { formatRpcError, toRpcError } from "../../shared/rpc-errors.ts";
import { formatPlannedSteps, getRunOptions, type StepContext, type StepResult } from "./step-context.ts";

const NAME = "run_code";

/** Runs a program, and reports its plan, its calls and its output. `args` are those of the tool `run_code`. */
export async function runProgram(args: Readonly<Record<string, unknown>>, context: StepContext): Promise<StepResult> {
  const { runtime, emit } = context;
  const step = context.createStepId();
  const { code } = args;
  if (typeof code === "string") {
    emit({ type: "code", step, code });
    const { caller } = context;
    const { plan, violations } = runtime.check(code, caller === undefined ? {} : { caller });
    emit({ type: "plan", step, calls: violations.length === 0 ? formatPlannedSteps(plan, runtime) : [] });
  }
  try {
    const observer = createObserver(step, context);
    const { outcome } = await runCode(runtime, args, { ...getRunOptions(context), observer });
    const isError = outcome.kind !== "completed";
    const result = { name: NAME, text: outcome.text, isError };
    emit({ type: "result", step, ...result, outcome });
    return result;
  } catch (thrown) {
    const result = { name: NAME, text: formatRpcError(toRpcError(thrown, NAME)), isError: true };
    emit({ type: "result", step, ...result });
    return result;
  }
}

function createObserver(step: string, { emit, meter }: StepContext): RunObserver {
  return {
    onCallStart(path, call) {
      meter.calls += 1;
      emit({ type: "call_started", step, call, path });
    },
    onCallEnd({ id, skill, method, outcome, durationMs }) {
      emit({ type: "call_ended", step, call: id, path: `${skill}.${method}`, outcome, durationMs });
    },
    onOutput: (text) => emit({ type: "output", step, text }),
    progress(path, done, total, text) {
      emit({
        type: "call_progress",
        step,
        path,
        done,
        ...(total !== undefined && { total }),
        ...(text !== undefined && { text }),
      });
    },
  };
}
