import { onTestFinished } from "vitest";

import {
  createRuntime,
  defineSkill,
  type ProvidedSkill,
  type Runtime,
  type RuntimeOptions,
} from "../../../src/index.ts";
import { joinNetwork, type NodeSettings } from "../../../src/providers/nodes/index.ts";
import { parseNodeSettings } from "../../../src/runtime/settings/network-settings.ts";

const TEXT = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };

/** A skill whose methods say which machine they ran on. */
export function createEchoSkill(machine: string, reached: string[] = []): ProvidedSkill {
  const run = async ({ text }: Record<string, unknown>): Promise<string> => {
    reached.push(`${machine} ${String(text)}`);
    return `${machine}: ${String(text)}`;
  };
  return defineSkill({
    name: "EchoSkill",
    description: "Repeats texts",
    methods: {
      say: { description: "Repeats a text", input: TEXT, run },
      read: { description: "Repeats a text, and changes nothing", input: TEXT, readOnly: true, run },
      fail: {
        description: "Fails",
        input: TEXT,
        run: async ({ text }: Record<string, unknown>) => {
          throw new Error(`cannot ${String(text)}`);
        },
      },
      wait: {
        description: "Waits until it is cancelled",
        input: TEXT,
        run: ({ text }: Record<string, unknown>, { signal, progress }) => {
          reached.push(`${machine} waits ${String(text)}`);
          progress(1, 2, "half");
          return new Promise((_, reject) => {
            signal.addEventListener("abort", () => {
              reached.push(`${machine} cancelled ${String(text)}`);
              reject(signal.reason as Error);
            });
          });
        },
      },
    },
  });
}

export function readSettings(section: Readonly<Record<string, unknown>>): NodeSettings {
  const { settings, problems } = parseNodeSettings(section, { cwd: ".", fillIn: (text) => text });
  if (settings === undefined) throw new Error(JSON.stringify(problems));
  return settings;
}

/** Joins the network with a runtime of its own. */
export async function joinWith(
  section: Readonly<Record<string, unknown>>,
  options: RuntimeOptions,
  warn: (text: string) => void = () => {},
): Promise<{ readonly runtime: Runtime; leave(): Promise<void> }> {
  const runtime = await createRuntime({ skillsDir: false, typecheck: false, ...options });
  const membership = await joinNetwork({ settings: readSettings(section), runtime, onState: () => {}, warn });
  onTestFinished(async () => {
    await membership.leave();
    await runtime.close();
  });
  return { runtime, leave: () => membership.leave() };
}

/** A runtime that calls the skills of the network. */
export async function openHub(
  nodes: Readonly<Record<string, unknown>>,
  options: RuntimeOptions = {},
): Promise<Runtime> {
  const runtime = await createRuntime({
    skillsDir: false,
    typecheck: false,
    nodes: { name: "controller", ...nodes },
    ...options,
  });
  onTestFinished(() => runtime.close());
  await runtime.known;
  return runtime;
}

/** Waits until the catalog of a runtime is as wanted. */
export function waitForCatalog(runtime: Runtime, isWanted: (paths: readonly string[]) => boolean): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (!isWanted(runtime.catalog.methods.map(({ path }) => path))) return;
      stop();
      resolve();
    };
    const stop = runtime.on("catalog", look);
    look();
  });
}

export function waitForDevice(runtime: Runtime, device: string): Promise<void> {
  return waitForCatalog(runtime, (paths) => paths.some((path) => path.startsWith(`${device}.`)));
}

export function waitForDeparture(runtime: Runtime, device: string): Promise<void> {
  return waitForCatalog(runtime, (paths) => !paths.some((path) => path.startsWith(`${device}.`)));
}
