import {
  describeSchedule,
  describeScheme,
  describeWaiting,
  formatZoneTime,
  getScheduleZone,
} from "../../../automations/index.ts";
import type { DescribedAutomation, AutomationFacts, AutomationOffer } from "../../../runtime/api/view.ts";
import type { OccurrenceRow } from "../../../store/index.ts";
import type { Paint } from "../terminal/terminal.ts";
import { DESCRIPTION_UNITS, escaped, formatSecond, indented, lines, shortened, table } from "../text/layout.ts";

const NOTHING =
  "There are no automations. Make one of a run that worked: skillgate automation add NAME --run RUN --key KEY";

/** One line for each automation. */
export function automationsText(automations: readonly AutomationFacts[], paint: Paint): string {
  if (automations.length === 0) return NOTHING;
  return lines(
    table(
      automations.map((facts) => {
        const { name, state, reason, last, description = "" } = facts;
        const remark = [reason ?? [], waitingText(facts) ?? []].flat().join("; ");
        return [
          paint.cyan(escaped(name)),
          stateText(state, paint),
          describeStart(facts),
          last === undefined ? "never ran" : `${last.state} ${formatSecond(last.ended ?? last.due)}`,
          paint.dim(escaped(shortened(remark === "" ? description : remark, DESCRIPTION_UNITS))),
        ];
      }),
    ),
  );
}

function describeStart({ schedule, next, webhook }: Pick<AutomationFacts, "next" | "schedule" | "webhook">): string {
  const parts = [schedule ?? "", webhook === undefined ? "" : `POST /hooks/${webhook}`];
  const upcoming = next === undefined ? "" : ` (next ${formatSecond(next)})`;
  return `${parts.filter((part) => part !== "").join("; ") || "on request"}${upcoming}`;
}

function waitingText({ waiting }: Pick<AutomationFacts, "waiting">): string | undefined {
  return waiting && describeWaiting(waiting, formatSecond);
}

/** Colours a state by what it asks of the reader. */
export function stateText(state: AutomationFacts["state"], paint: Paint): string {
  if (state === "enabled") return paint.green(state);
  return state === "held" || state === "failing" ? paint.red(state) : paint.yellow(state);
}

/** An automation with all that its file says. `calls` are those of its program, if they are known. */
export function automationText(
  detail: DescribedAutomation,
  calls: AutomationOffer["review"]["calls"],
  paint: Paint,
): string {
  const { name, state, reason, description = "", by, failures } = detail;
  return lines([
    `${paint.cyan(escaped(name))} ${stateText(state, paint)}${reason === undefined ? "" : `: ${escaped(reason)}`}`,
    description === "" ? "" : `  ${escaped(description)}`,
    ...describeFile(detail, calls),
    by === undefined ? "" : `  ${state === "proposed" ? "proposed" : "accepted"} by ${escaped(by)}`,
    failures === 0 ? "" : `  ${failures} failures in succession`,
    detail.waiting === undefined ? "" : `  ${waitingText(detail)}`,
  ]);
}

const MAX_SHOWN_SLOTS = 3;

function describeFile(
  { name, file, nextSlots }: Pick<DescribedAutomation, "file" | "name" | "nextSlots">,
  calls: AutomationOffer["review"]["calls"],
): readonly string[] {
  if (file === undefined) return [];
  const { key, schedule, webhook, limits } = file;
  const zone = schedule === undefined ? "" : getScheduleZone(schedule);
  const next = nextSlots.slice(0, MAX_SHOWN_SLOTS).map((slot) => formatZoneTime(slot, zone));
  const rows: readonly (readonly [string, string])[] = [
    ["key", escaped(key)],
    ...calls.map(({ path, effect }, at) => [at === 0 ? "calls" : "", `${escaped(path)}: ${effect}`] as const),
    ...(schedule === undefined
      ? []
      : [
          ["schedule", describeSlots(schedule)] as const,
          ["next", next.length === 0 ? "none" : `${next.join(", ")} (${zone})`] as const,
        ]),
    ...(webhook === undefined
      ? []
      : [["webhook", `POST /hooks/${webhook.id ?? name}, verified as ${describeScheme(webhook)}`] as const]),
    [
      "limits",
      `${limits.runsPerHour} runs an hour, ${limits.parallel} at the same time; ${limits.calls} calls and ${limits.minutes} min a run`,
    ],
  ];
  return table(rows.map(([label, value]) => [`  ${label}`, value]));
}

function describeSlots(schedule: NonNullable<NonNullable<DescribedAutomation["file"]>["schedule"]>): string {
  const { overlap, catchUp } = schedule;
  return `${describeSchedule(schedule)}; overlap ${overlap}, catchUp ${catchUp}`;
}

/** Lists changes since an automation was accepted; its whole file if it never was. */
export function differenceText({ difference, text }: AutomationOffer, isNew: boolean): string {
  const { lines: changed, methods } = difference;
  if (isNew) return lines(["", "Its file:", indented(escapedLines(text))]);
  if (changed.length + methods.length === 0) return "Nothing has changed since it was accepted";
  return lines([
    "Since it was accepted:",
    ...changed.map((line) => `  ${escaped(line)}`),
    ...methods.flatMap(({ path, before, now }) => [
      `  ${escaped(path)} ${before === undefined ? "is new" : now === undefined ? "is not called any more" : "has changed"}`,
      ...(before === undefined ? [] : [indented(`- ${escapedLines(before)}`)]),
      ...(now === undefined ? [] : [indented(`+ ${escapedLines(now)}`)]),
    ]),
  ]);
}

/** Escapes invisible characters other than line breaks. */
function escapedLines(text: string): string {
  return text.trimEnd().split("\n").map(escaped).join("\n");
}

const RUN_UNITS = 8;

/** One line for each occurrence, the latest first. */
export function historyText(rows: readonly OccurrenceRow[], paint: Paint): string {
  return lines(
    table(
      rows.map(({ id, kind, state, due, run, started, error }) => [
        escaped(id),
        kind,
        occurrenceStateText(state, paint),
        paint.dim(formatSecond(due)),
        started === null ? "" : `run ${run.slice(0, RUN_UNITS)}`,
        error === null ? "" : escaped(error),
      ]),
    ),
  );
}

function occurrenceStateText(state: OccurrenceRow["state"], paint: Paint): string {
  if (state === "completed") return paint.green(state);
  return state === "failed" ? paint.red(state) : paint.yellow(state);
}
