import type { Health, MethodDefinition, ProvidedSkill } from "./skill.ts";

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
  /** Skills that are not used, because files of theirs are held. */
  readonly heldSkills?: readonly HeldSkill[];
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

/** Decides which files of skills may run, by the bytes that were read. */
export interface SkillGate {
  /** Reads the decision of the user again, before changed files are loaded. */
  refresh(): Promise<void>;
  /** Says why a file in a folder is held; `undefined` if none is. */
  whyHeldIn(folder: string): string | undefined;
  /** Says why one of the files is held; `undefined` if all may run. */
  whyHeld(digests: readonly FileDigest[]): Promise<string | undefined>;
}

/** A file and the SHA-256 digest of its bytes. */
export type FileDigest = readonly [file: string, digest: string];

/** A skill that is not used, because files of it are held. */
export interface HeldSkill {
  readonly name: string;
  readonly source: string;
  /** `skills/greeter.ts changed by a pull` */
  readonly why: string;
  /** Its methods, as far as they are known without running it. */
  readonly methods: readonly Pick<MethodDefinition, "name" | "toolName" | "wireName">[];
}

/** `GreeterSkill is held: skills/greeter.ts changed by a pull; run skillgate trust` */
export function describeHeld(subject: string, why: string): string {
  return `${subject} is held: ${why}; run skillgate trust`;
}
