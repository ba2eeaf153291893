import type { JsonSchema } from "../../model/json.ts";
import { cutText } from "../../shared/format-text.ts";
import { type DeclaredMethod, methodText, type TextStyle } from "./method.ts";
import { propertyName } from "./text.ts";
import { createTypeNames } from "./type-names.ts";
import { toType } from "./types.ts";

/** Longest declaration of a method of an API, about 1,200 tokens: Stripe's have up to 22,000 with all their types. */
const DECLARATION_UNITS = 4_800;

/** Forms of a declaration, the one with the most detail first. */
const FORMS: readonly TextStyle[] = [
  {},
  { parameterUnits: 160 },
  { parameterUnits: 80, comments: false },
  { parameterUnits: 40, comments: false, depth: 2 },
  { parameterUnits: 0, comments: false, depth: 1 },
];

/** A declaration with as many of its types as fit. */
export interface ShortDeclaration {
  readonly text: string;
  /** The names of types that it mentions and does not declare. */
  readonly omitted: readonly string[];
}

/** Declares a method in the form with the most detail in which it fits with the types that its signature names. */
export function formatShortDeclaration(method: DeclaredMethod): ShortDeclaration {
  return chooseForm((form) => {
    const { comment, positional, types } = methodText(method, { ...form, namesOmitted: true });
    const signature = `${propertyName(method.name)}${positional};`;
    return { start: `${comment}${signature}`, roots: findNames(signature, types), types };
  });
}

/** Declares a named type of a method; `undefined` if it has none with that name. */
export function formatTypeDeclaration(
  method: DeclaredMethod,
  name: string,
  findType: (name: string) => JsonSchema | undefined,
): ShortDeclaration | undefined {
  const isOwn = (methodText(method, { namesOmitted: true }).types.get(name) ?? "") !== "";
  // A number tells two types of one name apart: that of the arguments and that of the result.
  const schema = isOwn ? undefined : (findType(name) ?? findType(name.replace(/_\d+$/, "")));
  if (!isOwn && schema === undefined) return undefined;
  return chooseForm((form) => {
    if (schema === undefined)
      return { start: "", roots: [name], types: methodText(method, { ...form, namesOmitted: true }).types };
    const names = createTypeNames("", true);
    const { comments = true, depth = 24 } = form;
    const { text } = toType(schema, { root: schema, names, depth, comments, of: "output" });
    const types = names.definitions.has(text) ? names.definitions : new Map([[name, text], ...names.definitions]);
    return { start: "", roots: [types === names.definitions ? text : name], types };
  });
}

interface DeclarationParts {
  readonly start: string;
  /** The names of types that must be declared. */
  readonly roots: readonly string[];
  readonly types: ReadonlyMap<string, string>;
}

function chooseForm(write: (form: TextStyle) => DeclarationParts): ShortDeclaration {
  for (const form of FORMS) {
    const parts = write(form);
    const needed = parts.roots.reduce((sum, name) => sum + declareType(name, parts.types).length, parts.start.length);
    if (needed <= DECLARATION_UNITS || form === FORMS.at(-1)) return fitTypes(parts);
  }
  throw new Error("There is no form");
}

/** Declares types while they fit, those that are nearer to the signature first. A type alone is cut where it does not fit. */
function fitTypes({ start, roots, types }: DeclarationParts): ShortDeclaration {
  let text = shorten(start);
  const omitted: string[] = [];
  const names = new Set(roots);
  // The set grows during the loop.
  for (const name of names) {
    const line = text === "" ? shorten(declareType(name, types)) : declareType(name, types);
    if (types.get(name) === "" || text.length + line.length > DECLARATION_UNITS) omitted.push(name);
    else {
      text += line;
      for (const each of findNames(line, types)) names.add(each);
    }
  }
  return { text: text.trimStart(), omitted };
}

function shorten(text: string): string {
  return text.length <= DECLARATION_UNITS ? text : `${cutText(text, DECLARATION_UNITS - 1)}…`;
}

/** Finds the names of types in a text, in their order. */
function findNames(text: string, types: ReadonlyMap<string, string>): readonly string[] {
  return (text.match(/[\p{ID_Start}_][\p{ID_Continue}]*/gu) ?? []).filter((word) => types.has(word));
}

function declareType(name: string, types: ReadonlyMap<string, string>): string {
  return `\ntype ${name} = ${types.get(name) ?? ""};`;
}
