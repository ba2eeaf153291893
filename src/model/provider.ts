import type { Health, ProvidedSkill } from "./skill.ts";

/** Something that could not be used, for people: which file or server, and why. */
export interface Problem {
  readonly source: string;
  readonly error: string;
  /** The lines of the file around a mistake, with a caret under it. */
  readonly frame?: string;
  /** The text to write instead, if it is known. */
  readonly fix?: string;
  /** It concerns every run, whatever it calls: a limit that is not the one that was meant. */
  readonly isForAllRuns?: true;
  /** It says what of a project is held until its owner trusts it. */
  readonly isHeld?: true;
}

/** The health of one skill. */
export interface SkillHealth extends Health {
  readonly skill: string;
  readonly source: string;
}

/** A source of skills that can come and go while the runtime lives. */
export interface Provider {
  readonly skills: readonly ProvidedSkill[];
  readonly problems: readonly Problem[];
  /** Settles when `skills` is complete for now; missing if it is from the beginning. */
  readonly known?: Promise<void>;
  /** Settles when everything is connected or has failed, where that is later than `known`. */
  readonly ready?: Promise<void>;
  /** Called after `skills` or `problems` changed. */
  onChange(listener: () => void): void;
  /** Returns the health of its skills, those that did not start included. */
  health?(): Promise<readonly SkillHealth[]>;
  close(): Promise<void>;
}
