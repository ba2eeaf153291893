import { RUNTIME_SECTION_SCHEMAS } from "../../config/index.ts";
import { isRecord } from "../../model/json.ts";
import type { ObservationSettings } from "../../observed/index.ts";
import { isValidSetting, readSettings } from "../../shared/settings/check-settings.ts";
import type { Retention } from "../../store/index.ts";
import type { ApprovalOptions, RunRecordOptions, RuntimeOptions } from "../options.ts";
import { parseProfiles } from "./profiles.ts";
import type { RuntimeSettings } from "./runtime-settings.ts";

/** The settings `runs` and `approvals.holdSeconds`. */
export interface RunSettings {
  /** The runs that have a record: those that can have an effect or wait for a person, all, or none. */
  readonly record: "off" | "effects" | "full";
  /** Milliseconds that a run which waits for a person keeps its memory, and its caller waits for it. */
  readonly holdMs: number;
  /** Passes after which a saved skill is not marked as saved any more. */
  readonly savedPasses: number;
  /** Makes a second attempt of calls that only read, after a failure that is over in a moment. */
  readonly retryReads: boolean;
}

type SectionSettings = Pick<
  RuntimeSettings,
  | "observations"
  | "catalogTokens"
  | "typecheck"
  | "rehydrateSecrets"
  | "automations"
  | "audit"
  | "retention"
  | "runs"
  | "problems"
  | "profiles"
> & {
  readonly approvals: Omit<RuntimeSettings["approvals"], "approvedFile">;
  readonly asksDestructive: boolean;
};

const SCHEMAS = RUNTIME_SECTION_SCHEMAS;

/** Resolves settings of sections of settings.yaml, or of options, which replace them. One that is not valid has its default. */
export function resolveSections(options: RuntimeOptions, sections: RuntimeSettings["sections"]): SectionSettings {
  const approvals = merge<Required<ApprovalOptions>>(
    readSettings(SCHEMAS.approvals, sections["approvals"]),
    options.approvals,
  );
  const runs = merge<Required<RunRecordOptions>>(
    readSettings(SCHEMAS.runs, toSection("record", sections["runs"])),
    options.runs,
  );
  const secrets = merge<{ readonly rehydrate: boolean }>(
    readSettings(SCHEMAS.secrets, sections["secrets"]),
    options.secrets,
  );
  const automations = merge<{ readonly proposals: boolean }>(
    readSettings(SCHEMAS.automations, sections["automations"]),
    options.automations,
  );
  const { keep = {} } = readSettings<{ readonly keep?: Partial<Retention> }>(SCHEMAS.store, sections["store"]);
  const typecheck = readSetting<boolean>("typecheck", sections["typecheck"]);
  const { audit } = sections;
  return {
    typecheck: options.typecheck ?? (options.lazy !== true && typecheck),
    catalogTokens: options.catalogTokens ?? readSetting("catalogTokens", sections["catalogTokens"]),
    observations: readObservations(options.observe ?? sections["observe"]),
    rehydrateSecrets: secrets.rehydrate,
    automations,
    audit: options.audit ?? (audit === false ? "off" : audit === "off" || audit === "store" ? audit : undefined),
    retention: keep,
    runs: {
      record: toRecordState(runs.record),
      savedPasses: runs.savedPasses,
      retryReads: runs.retryReads,
      holdMs: approvals.holdSeconds * 1_000,
    },
    approvals: { wait: approvals.wait ?? false, expireMs: approvals.expireSeconds * 1_000 },
    asksDestructive: asksDestructive(options.approvals?.destructive, sections["approvals"]),
    ...parseProfiles(sections["profiles"]),
  };
}

/** Options replace the settings that they name. */
function merge<Settings extends object>(settings: Partial<Settings>, options: Partial<Settings> | undefined): Settings {
  const chosen = Object.entries(options ?? {}).filter(([, value]) => value !== undefined);
  return { ...settings, ...Object.fromEntries(chosen) } as Settings;
}

/** Expands the short form of a section, which is the value of one of its settings. */
function toSection(name: string, section: unknown): unknown {
  return section === undefined || section === null || isRecord(section) ? section : { [name]: section };
}

/** Returns a section that is a single value, or its default. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller names the type
function readSetting<Value>(name: "typecheck" | "catalogTokens", value: unknown): Value {
  const schema = SCHEMAS[name];
  return (isValidSetting(schema, value) ? value : schema["default"]) as Value;
}

function readObservations(written: unknown): ObservationSettings {
  if (typeof written === "boolean") return { requests: written, results: written };
  return readSettings<ObservationSettings>(SCHEMAS.observe, isValidSetting(SCHEMAS.observe, written) ? written : {});
}

/** `false` is the same as `off`, which YAML 1.1 reads as `false`. */
function toRecordState(record: RunSettings["record"] | false): RunSettings["record"] {
  return record === false ? "off" : record;
}

/** A setting that is not valid must not permit more than was meant. */
function asksDestructive(option: ApprovalOptions["destructive"], section: unknown): boolean {
  const { destructive = "allow" } = isRecord(section) ? section : { destructive: section ?? "allow" };
  return (option ?? destructive) !== "allow";
}
