import type { Expose, ToolNames } from "./exposure.ts";
import type { ToolOverride } from "./tool-definition.ts";

/** A named subset of the methods, some with names and texts of its own. */
export interface Profile {
  readonly name: string;
  /** The methods to call and to see, as far as the permissions of the caller allow it: `call:MathSkill.*`, `see:MathSkill.*`. */
  readonly permissions: readonly string[];
  /** Patterns of the paths that it leaves out. */
  readonly except: readonly string[];
  /** Replaces names and texts of methods, by their paths. */
  readonly tools: Readonly<Record<string, ToolOverride>>;
}

/** A profile as clients of the server get it. */
export interface ServedProfile {
  readonly profile: Profile;
  /** Replaces the settings of the server. */
  readonly exposure: {
    readonly expose?: Expose;
    readonly names?: ToolNames;
    readonly budgetTokens?: number;
  };
  /** Precedes the instructions of the server. */
  readonly instructions?: string;
}

/** Profiles by name. */
export type Profiles = ReadonlyMap<string, ServedProfile>;
