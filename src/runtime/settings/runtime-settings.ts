import { sentence } from "../../errors.ts";
import type { AccountDefinition, KeySettings } from "../../accounts/index.ts";
import type { AlertSettings } from "../../alerts/index.ts";
import type { ApprovedFile } from "../../approvals/index.ts";
import type { Config, Variables } from "../../config/index.ts";
import type { ExecutorSettings } from "../../executors/index.ts";
import type { ObservationSettings } from "../../observed/index.ts";
import type { ApprovalWait } from "../../model/approval.ts";
import type { Limits } from "../../model/limits.ts";
import type { Profiles } from "../../model/tools/profile.ts";
import type { Problem } from "../../model/provider.ts";
import type { ProvidedSkill } from "../../model/skill.ts";
import type { Timeouts } from "../../model/timeouts.ts";
import type { PolicySettings } from "../../policy/index.ts";
import type { NodeSettings } from "../../providers/nodes/index.ts";
import type { ServerConfig } from "../../providers/mcp/index.ts";
import type { SourceConfig } from "../../providers/sources/index.ts";
import type { Retention, StoreLocation } from "../../store/index.ts";
import type { resolveMcpOptions } from "../mcp-options.ts";
import type { RunSettings } from "./sections.ts";

/** Options, after files were read and defaults filled in. */
export interface RuntimeSettings {
  /** The folder of the project. Absolute. */
  readonly cwd: string;
  /** The folder of skills; `undefined` without one, and for a folder of a project with more files than can be trusted. */
  readonly skillsDir: string | undefined;
  /** The folder of automations. Absolute. */
  readonly automationsDir: string;
  /** The trust of the project whose skills these are; `undefined` if it needs none. */
  readonly trust: (Pick<Config, "trust" | "heldServers"> & { readonly ownsSkills: boolean }) | undefined;
  /** Asks the person, if there is one, about what is held; returns the settings that apply from then on. */
  readonly trusted: () => Promise<RuntimeSettings>;
  readonly watch: boolean;
  readonly skills: readonly ProvidedSkill[];
  /** The servers to start, after a person was asked, if there is one. */
  readonly servers: () => Promise<readonly ServerConfig[]>;
  readonly serverUse: ReturnType<typeof resolveMcpOptions>;
  /** The APIs whose documents become skills. */
  readonly apis: readonly SourceConfig[];
  /** The accounts at services. */
  readonly accounts: readonly AccountDefinition[];
  /** Where alerts are sent; `undefined` without such a place. */
  readonly alerts: AlertSettings | undefined;
  /** Where the keys are that encrypt the credentials of accounts. */
  readonly accountKeys: Pick<KeySettings, "variable" | "readSetting" | "folder" | "store">;
  /** Values in the configuration that no text may show. */
  readonly secretValues: readonly string[];
  readonly rehydrateSecrets: boolean;
  /** `proposals`: models can propose automations. */
  readonly automations: { readonly proposals: boolean };
  /** Adds the arguments and results of calls to their spans. */
  readonly tracesContent: boolean;
  readonly limits: Limits;
  readonly timeouts: Timeouts;
  readonly typecheck: boolean;
  readonly observations: ObservationSettings;
  readonly catalogTokens: number;
  readonly sections: Readonly<Record<string, unknown>>;
  /** The settings.yaml that is read, if it is there. Absolute. */
  readonly settingsFile: string | undefined;
  readonly problems: readonly Problem[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The file of policy rows, if there may be one. Absolute. */
  readonly policyFile: { readonly tools: string; readonly isNamed: boolean } | undefined;
  readonly policy: PolicySettings;
  readonly approvals: {
    readonly wait: ApprovalWait;
    readonly expireMs: number;
    /** The file of calls that are approved for always, if there may be one. */
    readonly approvedFile: ApprovedFile | undefined;
  };
  /** Values of the placeholders in settings. */
  readonly variables: Variables;
  /** Absolute. */
  readonly store: string | undefined;
  /** The place of keys, approvals and the audit log; in memory if it has neither a folder nor a URL. */
  readonly database: StoreLocation;
  /** `undefined` if neither the program nor the settings say it. */
  readonly audit: "off" | "store" | undefined;
  readonly runs: RunSettings;
  /** The profiles that clients of the server can select. */
  readonly profiles: Profiles;
  /** The network of other machines; `undefined` without one. */
  readonly nodes: NodeSettings | undefined;
  /** The network of executors that execute the runs; `undefined` if this process executes them. */
  readonly executors: ExecutorSettings | undefined;
  /** How long records are kept, in days. */
  readonly retention: Partial<Retention>;
}

/** Creates the problem of a setting that cannot be used. */
export function createSettingsProblem(error: string): Problem {
  return { source: "settings.yaml", error: sentence("CONFIG_INVALID", error) };
}
