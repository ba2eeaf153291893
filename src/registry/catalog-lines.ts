import type { Catalog, Method } from "../model/catalog.ts";
import { compactCall } from "./compact-types.ts";
import { type FindInferredOutput, formatGuess } from "./declarations/inferred-output.ts";
import { SharedTypes } from "./shared-types.ts";
import { estimateTokens } from "./token-count.ts";

/** Levels of detail of a line: only the name, with the parameters, with the result, with the objects inside of it. */
export const NAME = 1;
export const PARAMETERS = 2;
export const RESULT = 3;
export const NESTED = 4;

/** Maximum lengths of the parameters and of the result of a line. */
export interface LineSizes {
  readonly parameters: number;
  readonly result: number;
}

/** For a catalog in which all names fit, and for one in which few methods fit. */
export const WIDE_LINES: LineSizes = { parameters: 180, result: 330 };
export const NARROW_LINES: LineSizes = { parameters: 90, result: 160 };

/** Maximum results of a skill that are compared for shared types. */
const MAX_RESULTS = 1_000;

/** The indentation and the end of a line. */
export const LINE_UNITS = 3;

/** Measures a text in UTF-16 units; a wide character, which is a token of its own, counts as four. */
export function measure(text: string): number {
  return Math.max(text.length, (estimateTokens(text) - 1) * 4);
}

export function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

/** Formats methods at each level of detail, once. */
export class LineFormatter {
  readonly #catalog: Catalog;
  readonly #observed: FindInferredOutput;
  readonly #sizes: LineSizes;
  readonly #shared = new Map<string, SharedTypes>();
  readonly #siblings = new Map<string, ReadonlyMap<string, string>>();
  readonly #lines = new Map<Method, Map<number, FormattedLine>>();

  constructor(catalog: Catalog, observed: FindInferredOutput, sizes: LineSizes) {
    this.#sizes = sizes;
    this.#catalog = catalog;
    this.#observed = observed;
  }

  format(method: Method, detail: number): FormattedLine {
    const byDetail = this.#lines.get(method) ?? new Map<number, FormattedLine>();
    this.#lines.set(method, byDetail);
    const line = byDetail.get(detail) ?? this.#make(method, detail);
    byDetail.set(detail, line);
    return line;
  }

  /** The length of a line; a shared type counts a little for each method that names it. */
  cost(method: Method, detail: number): number {
    if (detail === 0) return 0;
    const { text, definitions } = this.format(method, detail);
    return measure(text) + LINE_UNITS + definitions.reduce((sum, each) => sum + each.length / 2, 0);
  }

  #make(method: Method, detail: number): FormattedLine {
    if (detail <= NAME) return { text: method.name, definitions: [] };
    const call = compactCall(method, this.#getSiblings(method.skill), this.#sizes.parameters);
    const observed = this.#observed(method);
    const output = method.output ?? observed?.schema;
    if (detail === PARAMETERS || output === undefined) return { text: call, definitions: [] };
    const types = this.#getSharedTypes(method.skill);
    const units = this.#sizes.result;
    const [one, two] = [1, 2].map((levels) => types.format(output, { levels, membersUnits: units }));
    const result = detail === NESTED && two !== undefined && two.text.length <= units ? two : one;
    if (result === undefined || result.text === "any") return { text: call, definitions: [] };
    const definitions = [...result.shared].map((type) => `${type.name} = ${types.define(type).text}`);
    return { text: `${call}: ${result.text}${formatGuess(observed)}`, definitions };
  }

  #getSharedTypes(skill: string): SharedTypes {
    const cached = this.#shared.get(skill);
    if (cached !== undefined) return cached;
    const methods = this.#catalog.skill(skill)?.methods.toSorted(byName) ?? [];
    const results = methods.map((method) => method.output ?? this.#observed(method)?.schema);
    const types = new SharedTypes(results.filter((result) => result !== undefined).slice(0, MAX_RESULTS));
    this.#shared.set(skill, types);
    return types;
  }

  #getSiblings(skill: string): ReadonlyMap<string, string> {
    const methods = this.#catalog.skill(skill)?.methods ?? [];
    const siblings =
      this.#siblings.get(skill) ??
      new Map(
        methods.flatMap(({ name, wireName }) => [
          [wireName, name],
          [name, name],
        ]),
      );
    this.#siblings.set(skill, siblings);
    return siblings;
  }
}

interface FormattedLine {
  readonly text: string;
  /** The shared types that the line names, as `T1 = {…}`. */
  readonly definitions: readonly string[];
}
