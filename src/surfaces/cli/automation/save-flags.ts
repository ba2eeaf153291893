import type { AutomationToSave } from "../../../runtime/api/view.ts";
import { withoutGaps } from "../../../shared/json/without-gaps.ts";
import type { CliCommand } from "../command.ts";
import { formatFlag, wholeNumber } from "../input/option-values.ts";
import { collected } from "../mcp/server-flags.ts";
import { UsageError } from "../usage-error.ts";

/** The flags of an automation to write. */
export interface AutomationFlags extends ScheduleFlags, LimitFlags {
  readonly run?: string;
  readonly key?: string;
  readonly param?: readonly string[];
  readonly description?: string;
  readonly webhook?: string;
  readonly secret?: readonly string[];
  readonly force?: true;
}

/** The fields of the section `schedule` that have flags. */
interface ScheduleFlags {
  readonly cron?: string;
  readonly every?: string;
  readonly zone?: string;
  readonly overlap?: string;
  readonly catchUp?: string;
  readonly jitter?: string;
  readonly until?: string;
}

/** The fields of the section `limits` that have flags. */
interface LimitFlags {
  readonly runsPerHour?: number;
  readonly calls?: number;
  readonly minutes?: number;
}

const SCHEDULE_FLAGS = ["cron", "every", "zone", "overlap", "catchUp", "jitter", "until"] as const;
const LIMIT_FLAGS = ["runsPerHour", "calls", "minutes"] as const;

/** The flags that only an automation has. */
export const AUTOMATION_FLAGS = ["key", ...SCHEDULE_FLAGS, ...LIMIT_FLAGS, "webhook", "secret"] as const;

export function addSaveOptions(command: CliCommand): CliCommand {
  return command
    .option("--key <key>", "the name of the API key with whose rights it runs; it may be created later")
    .option(
      "--param <parameter>",
      "a constant of the program, or name=value for the literal with that value: it becomes the input; repeatable",
      collected,
    )
    .option("--description <text>", "what it does (default: the methods that it calls)")
    .option("--cron <expression>", 'when it runs, in five fields, such as "0 9 * * MON-FRI"; see --zone')
    .option("--every <period>", "when it runs, in place of --cron: from 1m to 366d, such as 5m")
    .option("--zone <zone>", "the IANA name of the zone of --cron, such as Europe/Berlin")
    .option("--overlap <rule>", "while an earlier run has not ended: skip, queue, parallel or cancel")
    .option("--catch-up <rule>", "the missed times that run later: none, one or all")
    .option("--jitter <period>", "the most that a run starts later than its time: up to 1h")
    .option("--until <time>", "the last moment at which it may run, such as 2027-01-01T00:00:00Z")
    .option(
      "--webhook <service>",
      "run it for each delivery to POST /hooks/NAME: github, stripe, slack, standard or token; other signatures are described in the file",
    )
    .option("--secret <reference>", "a secret of the webhook, as in '${HOOK_SECRET}'; repeatable", collected)
    .option("--runs-per-hour <number>", "the most runs that begin in an hour (default: 120)", wholeNumber)
    .option("--calls <number>", "the most calls of one run (default: 1000)", wholeNumber)
    .option("--minutes <number>", "the time limit of one run, without waiting for persons (default: 5)", wholeNumber)
    .option("--force", "replace the one of this name");
}

/** Returns the parts of an automation that flags give. Throws a `UsageError` that names the flag. */
export async function readSections(flags: AutomationFlags): Promise<Omit<AutomationToSave, "from" | "name">> {
  const { key, description, webhook, secret, force } = flags;
  if (key === undefined)
    throw new UsageError(
      "An automation runs with the rights of an API key: write --key KEY; create one with: skillgate keys create KEY --call 'Skill.method'",
    );
  if ((webhook === undefined) !== (secret === undefined))
    throw new UsageError("A webhook has a service and a secret: --webhook github --secret '${HOOK_SECRET}'");
  const schedule = pickFlags(flags, SCHEDULE_FLAGS);
  const limits = pickFlags(flags, LIMIT_FLAGS);
  if (schedule !== undefined || limits !== undefined) await checkSections(schedule, limits);
  return withoutGaps({
    key,
    description,
    schedule,
    limits,
    webhook: webhook === undefined ? undefined : { verify: webhook, secrets: secret },
    mayReplace: force === true,
  });
}

/** Returns the fields that have values; `undefined` if none has. */
function pickFlags<Name extends keyof AutomationFlags>(
  flags: AutomationFlags,
  names: readonly Name[],
): Pick<AutomationFlags, Name> | undefined {
  const entries = names.flatMap((name) => (flags[name] === undefined ? [] : [[name, flags[name]] as const]));
  return entries.length === 0 ? undefined : (Object.fromEntries(entries) as Pick<AutomationFlags, Name>);
}

/** Throws what the file would be refused for, with the names of flags in place of fields. */
async function checkSections(schedule: ScheduleFlags | undefined, limits: LimitFlags | undefined): Promise<void> {
  const { parseLimits, parseSchedule } = await import("../../../automations/index.ts");
  if (schedule !== undefined) {
    requireOneTime(schedule);
    parseSchedule(schedule, (why) => new UsageError(nameFlags(why)));
  }
  if (limits !== undefined) parseLimits(limits, (why) => new UsageError(nameFlags(why)));
}

function requireOneTime({ cron, every, ...others }: ScheduleFlags): void {
  if (cron !== undefined && every !== undefined)
    throw new UsageError("An automation has one schedule: write either --cron or --every, not both");
  const [first] = Object.keys(others);
  if (cron === undefined && every === undefined && first !== undefined)
    throw new UsageError(
      `${formatFlag(first)} is for a schedule: write --cron "0 9 * * *" --zone Europe/Berlin, or --every 5m`,
    );
}

/** Writes the flags that have the fields of a message. */
function nameFlags(why: string): string {
  return why
    .replaceAll(/\b(?:schedule|limits)\.(\w+)/g, (_field, name: string) => formatFlag(name))
    .replace("schedule has no zone", "--zone is missing")
    .replace("write zone: ", "write --zone ");
}
