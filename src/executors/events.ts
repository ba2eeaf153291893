import type { RunObserver } from "../model/run-observer.ts";

/** Events of a run that reach its front, each with the types of its values; `?` marks those that may be missing. */
const EVENTS = {
  onCallStart: ["string", "number"],
  onCallEnd: ["object"],
  onStart: ["string"],
  onWait: ["boolean"],
  onOutput: ["string"],
  log: ["string", "string", "string"],
  progress: ["string", "number", "number?", "string?"],
} as const satisfies { readonly [Name in keyof RunObserver]?: readonly string[] };

type EventName = keyof typeof EVENTS;

/** Returns the names of the events that an observer receives. */
export function listEvents(observer: RunObserver): readonly string[] {
  return Object.keys(EVENTS).filter((name) => observer[name as EventName] !== undefined);
}

/** Creates an observer that reports the events with these names. */
export function createReportingObserver(
  names: readonly string[],
  report: (name: string, ...values: readonly unknown[]) => void,
): RunObserver {
  const valid = names.filter((name) => Object.hasOwn(EVENTS, name));
  return Object.fromEntries(valid.map((name) => [name, (...values: unknown[]) => report(name, ...values)]));
}

/** Passes an event on to an observer. An event that is not valid is dropped. */
export function passOn(event: unknown, observer: RunObserver): void {
  if (!Array.isArray(event)) return;
  const [name, ...values] = event as readonly unknown[];
  if (typeof name !== "string" || !Object.hasOwn(EVENTS, name)) return;
  const types: readonly string[] = EVENTS[name as EventName];
  const isValid = types.every((type, at) => {
    const value = values[at] ?? undefined;
    return (value === undefined && type.endsWith("?")) || typeof value === type.replace("?", "");
  });
  if (!isValid) return;
  const listener = observer[name as EventName] as ((...values: readonly unknown[]) => void) | undefined;
  listener?.(...values.slice(0, types.length).map((value) => value ?? undefined));
}
