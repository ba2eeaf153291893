import type { AutomationState, AutomationSummary, OccurrenceSummary } from "../../../automation-messages.ts";
import { StatusBadge } from "../../components/elements.tsx";
import { countNoun, formatCount, Text, Time } from "../../components/text.tsx";
import { formatLink } from "../../router.ts";

const STATES = {
  enabled: { label: "enabled", tone: "ok" },
  failing: { label: "failing", tone: "bad" },
  held: { label: "held", tone: "warn" },
  paused: { label: "paused", tone: "off" },
  proposed: { label: "proposed", tone: "warn" },
  unaccepted: { label: "not accepted", tone: "warn" },
} as const satisfies Readonly<Record<AutomationState, unknown>>;

/** The state of an automation. */
export function AutomationBadge({ state }: Pick<AutomationSummary, "state">) {
  return <StatusBadge {...STATES[state]} />;
}

export function getStateLabel(state: AutomationState): string {
  return STATES[state].label;
}

const TONES = {
  due: "busy",
  running: "busy",
  waiting: "warn",
  completed: "ok",
  failed: "bad",
  skipped: "off",
  missed: "warn",
  cancelled: "off",
} as const satisfies Readonly<Record<OccurrenceSummary["state"], unknown>>;

/** The state of an occurrence. */
export function OccurrenceBadge({ state }: Pick<OccurrenceSummary, "state">) {
  return <StatusBadge label={state} tone={TONES[state]} />;
}

/** The time of an occurrence, as a link to its run if it has one. */
export function OccurrenceTime({ occurrence: { run, started, due } }: { readonly occurrence: OccurrenceSummary }) {
  const time = <Time at={started ?? due} />;
  return run === null ? time : <a href={formatLink(["runs", run])}>{time}</a>;
}

/** The deliveries that wait for their runs, and until when. */
export function WaitingText({ waiting: { deliveries, runsPerHour, next } }: WaitingTextProps) {
  const text = deliveries === 1 ? "1 delivery waits" : `${formatCount(deliveries)} deliveries wait`;
  if (next === undefined) return text;
  return (
    <>
      {text}: {countNoun(runsPerHour, "run")} an hour {runsPerHour === 1 ? "is" : "are"} reached; the next begins at{" "}
      <Time at={next} />
    </>
  );
}

interface WaitingTextProps {
  readonly waiting: NonNullable<AutomationSummary["waiting"]>;
}

/** The address of the page of an automation. */
export function getAutomationLink(name: string): string {
  return formatLink(["automations", name]);
}

/** The name of an automation as a link to its page. */
export function AutomationLink({ name }: { readonly name: string }) {
  return <Text href={getAutomationLink(name)} value={name} limit={100} />;
}

/** Returns the endpoint of an automation. */
export const getPath = (name: string): string => `/automations/${encodeURIComponent(name)}`;
