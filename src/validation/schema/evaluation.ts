import { pointerTo, type Pointer } from "../json-pointer.ts";
import type { TimeBudget } from "../time-budget.ts";
import { writeKey } from "./value-keys.ts";

/** An error of a value. */
export interface Finding {
  readonly keyword: string;
  /** The place in the value. */
  readonly pointer: Pointer;
  /** The place in the schema: `#/properties/query/type`. A new one begins where a reference is followed: `#/$defs/Page/type`. */
  readonly schemaPath: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** The value of the keyword. */
  readonly schema: unknown;
  /** The schema that has the keyword. */
  readonly parent: Readonly<Record<string, unknown>>;
  /** The value at the place. */
  readonly data: unknown;
}

/** A place in a value; `undefined` for the whole value. Its pointer is only written for a finding. */
export type ValueLocation = { readonly above: ValueLocation; readonly key: string | number } | undefined;

/** Thrown when a check takes more work than a value of its size may, or more time than is left. */
export class WorkLimit extends Error {}

/** More findings are not written: a value can have several for each of its parts. */
const MAX_FINDINGS = 100_000;

/** Findings of the alternatives of one keyword: more explain nothing. */
const MAX_OF_ALTERNATIVES = 200;

/** Steps of a check for a value of any size, and more for each unit of its weight. A schema can ask for any number of them. */
const MIN_STEPS = 50_000;
const STEPS_FOR_WEIGHT = 10;

/** The characters, and the names of an object, that take one step: as powers of two. */
const TEXT_SHIFT = 6;
const NAMES_SHIFT = 2;

/** Steps between two looks at the clock. */
const CLOCK_STEPS = 2_048;

/** Schemas that apply within each other: more than a value of the greatest depth needs, fewer than the stack can hold. */
const MAX_DEPTH = 1_000;

/** The state of one check of a value. */
export class Evaluation {
  readonly findings: Finding[] = [];
  /** True where missing members get their defaults: not within alternatives, of which none may apply. */
  fillsDefaults: boolean;
  /** The schemas with an identifier that the check is in, the outermost first; dynamic references look there. */
  readonly resources: unknown[] = [];
  /** The schemas that references have led to, and that are being applied. */
  readonly #references: { readonly target: unknown; readonly location: ValueLocation }[] = [];
  readonly #keys = new Map<unknown, string>();
  readonly #budget: TimeBudget;
  #stepsLeft: number;
  /** The clock is read when fewer steps are left. */
  #clockAt: number;
  #depth = 0;
  #isQuiet = false;

  constructor(weight: number, fillsDefaults: boolean, budget: TimeBudget) {
    this.fillsDefaults = fillsDefaults;
    this.#budget = budget;
    this.#stepsLeft = MIN_STEPS + STEPS_FOR_WEIGHT * weight;
    this.#clockAt = this.#stepsLeft - CLOCK_STEPS;
  }

  /** Counts work. */
  step(count = 1): void {
    this.#stepsLeft -= count;
    if (this.#stepsLeft < this.#clockAt) this.#readClock();
  }

  #readClock(): void {
    if (this.#stepsLeft < 0 || this.#budget.leftMs("whole") === 0) throw new WorkLimit();
    this.#clockAt = Math.max(0, this.#stepsLeft - CLOCK_STEPS);
  }

  /** Counts the work of a schema: its keywords read a text as a whole. */
  enter(value: unknown): void {
    this.step(typeof value === "string" ? 1 + (value.length >> TEXT_SHIFT) : 1);
    if (++this.#depth > MAX_DEPTH) throw new WorkLimit();
  }

  leave(): void {
    this.#depth--;
  }

  /** Returns the text that equal values have, which is written once for a value. */
  writeKey(value: unknown): string {
    const key = this.#keys.get(value) ?? writeKey(value);
    if (typeof value === "object") this.#keys.set(value, key);
    this.step(1 + (key.length >> TEXT_SHIFT));
    return key;
  }

  /** Returns the names of an object. */
  listNames(data: object): readonly string[] {
    const names = Object.keys(data);
    this.step(names.length >> NAMES_SHIFT);
    return names;
  }

  /** Follows a reference. One that leads back to itself, without a step into the value, requires nothing. */
  follow(target: unknown, location: ValueLocation, check: () => boolean): boolean {
    for (let at = this.#references.length - 1; this.#references[at]?.location === location && at >= 0; at--)
      if (this.#references[at]?.target === target) return true;
    this.#references.push({ target, location });
    const isValid = check();
    this.#references.pop();
    return isValid;
  }

  /** Adds a finding; always false, as the result of its check. */
  report(finding: Omit<Finding, "pointer">, location: ValueLocation): false {
    if (!this.#isQuiet && this.findings.length < MAX_FINDINGS)
      this.findings.push({ ...finding, pointer: writePointer(location) });
    return false;
  }

  /** Checks without findings and defaults. */
  quietly(check: () => boolean): boolean {
    const before = [this.#isQuiet, this.fillsDefaults] as const;
    [this.#isQuiet, this.fillsDefaults] = [true, false];
    const isValid = check();
    [this.#isQuiet, this.fillsDefaults] = before;
    return isValid;
  }

  /**
   * Checks alternatives: without defaults. Their findings are removed if `check` returns true. It gets a function for the check of one
   * alternative, which reports no findings after those of many others.
   */
  withAlternatives(check: (tryOne: (alternative: () => boolean) => boolean) => boolean): boolean {
    const { length } = this.findings;
    const before = this.fillsDefaults;
    this.fillsDefaults = false;
    const isValid = check((alternative) =>
      this.findings.length - length > MAX_OF_ALTERNATIVES ? this.quietly(alternative) : alternative(),
    );
    this.fillsDefaults = before;
    if (isValid) this.findings.length = length;
    return isValid;
  }
}

function writePointer(location: ValueLocation): Pointer {
  return location === undefined ? "" : pointerTo(writePointer(location.above), String(location.key));
}

/** The members and items of one value that schemas have described, for `unevaluatedProperties` and `unevaluatedItems`. */
export class DescribedParts {
  readonly names = new Set<string>();
  readonly items = new Set<number>();
  /** Items before it are described. */
  itemCount = 0;

  add(other: DescribedParts): void {
    for (const name of other.names) this.names.add(name);
    for (const item of other.items) this.items.add(item);
    this.itemCount = Math.max(this.itemCount, other.itemCount);
  }
}
