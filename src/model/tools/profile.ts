import type { Expose, ToolNames } from "./exposure.ts";
import type { ToolOverride } from "../tool-definition.ts";

/** A named subset of the methods, some with names and texts of its own. */
export interface Profile {
  readonly name: string;
  /** Patterns of the paths of its methods. */
  readonly methods: readonly string[];
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
