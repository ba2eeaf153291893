import { isRecord, type JsonSchema } from "../model/json.ts";
import { compactType, OMITTED } from "./compact-types.ts";
import { resolveReference } from "./schema.ts";

/** A shorter type is written where it is used. */
const MIN_UNITS = 40;

/** Depth of the objects of a result that may be shared, and of the members that must match. */
const SEARCHED_LEVELS = 3;
const COMPARED_LEVELS = 8;

/** Maximum length of a definition, and of the members of one object. */
const DEFINITION_UNITS = 330;
const MEMBERS_UNITS = 300;
const COMPARED_UNITS = 2_000;

/** An object type that several methods of a skill return. */
export interface SharedType {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly root: JsonSchema;
}

/** The result of formatting a type: its text, and the shared types that it names, directly or through others. */
export interface ResultText {
  readonly text: string;
  readonly shared: ReadonlySet<SharedType>;
}

/** The types that the results of one skill share: `T1`, `T2`, in the order of the results. */
export class SharedTypes {
  readonly #byStructure = new Map<string, SharedType>();
  readonly #structures = new WeakMap<JsonSchema, string>();

  constructor(results: readonly JsonSchema[]) {
    const uses = new Map<string, { readonly schema: JsonSchema; readonly root: JsonSchema; methods: number }>();
    for (const root of results) {
      const own = new Map<string, JsonSchema>();
      for (const schema of findObjects(root, root, SEARCHED_LEVELS)) own.set(this.#getStructure(schema, root), schema);
      for (const [structure, schema] of own) {
        const use = uses.get(structure) ?? { schema, root, methods: 0 };
        use.methods += 1;
        uses.set(structure, use);
      }
    }
    for (const [structure, { schema, root, methods }] of uses) {
      // Where members are left out, the rest may differ.
      if (methods < 2 || structure.length < MIN_UNITS || structure.includes(OMITTED)) continue;
      this.#byStructure.set(structure, { name: `T${this.#byStructure.size + 1}`, schema, root });
    }
  }

  /** Formats a result with the names of shared types. */
  format(result: JsonSchema, size: { readonly levels: number; readonly membersUnits: number }): ResultText {
    return this.#format({ schema: result, root: result }, size);
  }

  /** Formats what a shared type stands for. */
  define(type: SharedType): ResultText {
    const sizes = [1, 2].map((levels) => ({ levels, membersUnits: MEMBERS_UNITS }));
    const [short, long] = sizes.map((size) => this.#format(type, size, type));
    return long !== undefined && long.text.length <= DEFINITION_UNITS ? long : (short ?? NO_TEXT);
  }

  #format(
    { schema, root }: Pick<SharedType, "schema" | "root">,
    size: { readonly levels: number; readonly membersUnits: number },
    except?: SharedType,
  ): ResultText {
    const shared = new Set<SharedType>();
    const findName = (object: JsonSchema): string | undefined => {
      const type = this.#byStructure.get(this.#getStructure(object, root));
      if (type === undefined || type === except) return undefined;
      shared.add(type);
      return type.name;
    };
    const text = compactType(schema, { root, ...size, findName });
    const direct = Array.from(shared);
    for (const type of direct) for (const inner of this.define(type).shared) shared.add(inner);
    return { text, shared };
  }

  #getStructure(schema: JsonSchema, root: JsonSchema): string {
    const size = { levels: COMPARED_LEVELS, membersUnits: COMPARED_UNITS };
    const text = this.#structures.get(schema) ?? compactType(schema, { root, ...size });
    this.#structures.set(schema, text);
    return text;
  }
}

const NO_TEXT: ResultText = { text: "", shared: new Set() };

/** Finds the objects with members in a result, those inside of others last. */
function findObjects(schema: unknown, root: JsonSchema, levels: number): readonly JsonSchema[] {
  if (!isRecord(schema) || levels < 0) return [];
  const target = typeof schema["$ref"] === "string" ? resolveReference(schema["$ref"], root) : schema;
  if (!isRecord(target)) return [];
  const { properties, items, additionalProperties, anyOf, oneOf } = target;
  const members = isRecord(properties) ? Object.values(properties) : [];
  const inner = [items, additionalProperties, ...[anyOf, oneOf].flatMap((list) => (Array.isArray(list) ? list : []))];
  return [
    ...(members.length > 0 ? [target] : []),
    ...inner.flatMap((each) => findObjects(each, root, levels - 1)),
    ...members.flatMap((each) => findObjects(each, root, levels - 1)),
  ];
}
