import { onTestFinished } from "vitest";

import { startExecutor, type StartedExecutor, createVersionReader } from "../../src/executors/index.ts";
import { createRuntime, defineSkill, type ProvidedSkill, type Runtime, type RuntimeOptions } from "../../src/index.ts";
import { parseExecutorSettings } from "../../src/runtime/settings/network-settings.ts";
import type { StoreLocation } from "../../src/store/index.ts";

const TEXT = { type: "object", properties: { text: { type: "string" } }, required: ["text"] } as const;

/** A skill whose methods say which executor they ran on. */
export function createEchoSkill(
  executor: string,
  reached: string[] = [],
  description = "Repeats texts",
): ProvidedSkill {
  const run = async ({ text }: { readonly text: string }): Promise<string> => {
    reached.push(`${executor} ${text}`);
    return `${executor}: ${text}`;
  };
  return defineSkill({
    name: "EchoSkill",
    description,
    methods: {
      read: { description: `${description}, and changes nothing`, input: TEXT, readOnly: true, run },
      say: { description, input: TEXT, run },
      ask: { description: "Repeats a text after a yes", input: TEXT, approval: "user", run },
      wait: {
        description: "Waits until it is cancelled",
        input: TEXT,
        readOnly: true,
        run: ({ text }: { readonly text: string }, { signal, progress, log }) => {
          reached.push(`${executor} waits ${text}`);
          log("info", "waiting");
          progress(1, 2, "half");
          return new Promise((_, reject) => {
            signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
          });
        },
      },
      elicit: {
        description: "Asks the client",
        input: TEXT,
        readOnly: true,
        run: ({ text }: { readonly text: string }, { client }) => client?.ask("elicitation/create", { message: text }),
      },
    },
  });
}

/** The part of a runtime that executors and fronts must have in common. */
export interface Project {
  readonly url: string;
  readonly location: StoreLocation;
  readonly options?: RuntimeOptions;
}

/** Takes what ends something that a test has started. */
export type OnEnd = (close: () => Promise<void>) => void;

/** Starts an executor in this process, with a runtime of its own. It ends with the test, if `onEnd` is missing. */
export async function startExecutorHere(
  { url, location, options }: Project,
  skills: readonly ProvidedSkill[],
  section: Readonly<Record<string, unknown>> = {},
  onEnd: OnEnd = onTestFinished,
): Promise<{
  readonly executor: StartedExecutor;
  readonly runtime: Runtime;
  readonly warnings: string[];
  close(): Promise<void>;
}> {
  const { settings } = parseExecutorSettings({ url, ...section }, { cwd: ".", fillIn: (text) => text });
  if (settings === undefined) throw new Error("The settings of the executor are not valid");
  const runtime = await createRuntime({ ...createOptions(location, options), skills });
  const warnings: string[] = [];
  let setReady = (): void => {};
  const ready = new Promise<void>((resolve) => (setReady = resolve));
  const executor = await startExecutor({
    settings,
    runtime,
    readVersion: createVersionReader(() => runtime, location),
    onState: (text) => text.startsWith("connected") && setReady(),
    warn: (text) => warnings.push(text),
  });
  await ready;
  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await runtime.close();
    await executor.close();
  };
  const closeOnce = (): Promise<void> => (closed ??= close());
  onEnd(closeOnce);
  return { executor, runtime, warnings, close: closeOnce };
}

/** Opens a runtime that hands its runs to executors. It ends with the test, if `onEnd` is missing. */
export async function openFront(
  { url, location, options }: Project,
  skills: readonly ProvidedSkill[],
  section: Readonly<Record<string, unknown>> = {},
  onEnd: OnEnd = onTestFinished,
): Promise<{ readonly runtime: Runtime; readonly log: string[] }> {
  const log: string[] = [];
  const runtime = await createRuntime({
    ...createOptions(location, options),
    skills,
    executors: { url, name: "front", ...section },
    log: (_, text) => log.push(text),
  });
  onEnd(() => runtime.close());
  return { runtime, log };
}

function createOptions({ folder }: StoreLocation, options: RuntimeOptions = {}): RuntimeOptions {
  return { skillsDir: false, workers: 1, typecheck: false, ...(folder !== undefined && { store: folder }), ...options };
}
