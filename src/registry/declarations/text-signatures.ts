import type { JsonSchema } from "../../model/json.ts";
import type { MethodText } from "./method.ts";
import { propertyName } from "./text.ts";
import { toType } from "./types.ts";

/** Texts of one method whose results are declared, and the UTF-16 units of their signatures. */
const MAX_TEXTS = 20;
const MAX_UNITS = 256 << 10;

const DEPTH = 24;

/** The type of the result of one text of a query language. */
export interface TextOutput {
  /** `Skill.method` */
  readonly path: string;
  /** The argument with the text. */
  readonly argument: string;
  readonly text: string;
  readonly output: JsonSchema;
}

/** Adds a signature for each text, so that a call with the text as a literal has the type of its result. */
export function withTextSignatures(method: MethodText, outputs: readonly TextOutput[]): MethodText {
  if (outputs.length === 0) return method;
  const results = new Map(outputs.slice(0, MAX_TEXTS).map((each) => [each.text, each]));
  // An argument of the type `any` fits every text, so its signature comes first.
  const ofTexts = ["(...values: [{ readonly __any: never }, ...any[]]): Promise<any>"];
  let units = 0;
  for (const { argument, text, output } of results.values()) {
    const literal = JSON.stringify(text);
    const type = formatResultType(output);
    units += 2 * (literal.length + type.length);
    if (units > MAX_UNITS) break;
    ofTexts.push(
      `(...values: [{ ${propertyName(argument)}: ${literal}; [name: string]: any }, ...any[]]): Promise<${type}>`,
      `(...values: [${literal}, ...any[]]): Promise<${type}>`,
    );
  }
  return { ...method, ofTexts };
}

/** Writes the type of a result on one line, with all its levels. */
export function formatResultType(output: JsonSchema): string {
  return toType(output, { root: output, depth: DEPTH, comments: false, of: "output" }).text;
}
