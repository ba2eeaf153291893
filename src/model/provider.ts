import type { ProvidedSkill } from "./skill.ts";

/** Something that could not be used, for people: which file or server, and why. */
export interface Problem {
  readonly source: string;
  readonly error: string;
  /** What to write instead, where that is known. */
  readonly fix?: string;
}

/** A source of skills that can come and go while the runtime lives. */
export interface Provider {
  readonly skills: readonly ProvidedSkill[];
  readonly problems: readonly Problem[];
  /** Called after `skills` or `problems` changed. */
  onChange(listener: () => void): void;
  close(): Promise<void>;
}
