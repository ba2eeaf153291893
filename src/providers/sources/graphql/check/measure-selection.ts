import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from "graphql";

import type { QueryProblem } from "../../../../model/skill.ts";
import { TEXT_LIMITS } from "./limits.ts";
import { createProblem } from "./parse-text.ts";
import { getNameRange } from "./ranges.ts";

export type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/** The fragments of a text by their names. */
export function getFragments({ definitions }: DocumentNode): Fragments {
  const found = definitions.filter((each) => each.kind === Kind.FRAGMENT_DEFINITION);
  return new Map(found.map((each) => [each.name.value, each]));
}

/**
 * Finds what is too large in a selection: fragments that spread each other multiply its fields. Must come before the rules of
 * the specification, which compare fields with each other.
 */
export function findExcess(operation: OperationDefinitionNode, fragments: Fragments): QueryProblem | undefined {
  const counter = new SelectionCounter(fragments);
  const { fields, aliases } = counter.count(operation.selectionSet);
  if (counter.cycle !== undefined) return counter.cycle;
  const range = getNameRange(operation.selectionSet.selections[0] ?? operation);
  if (fields > TEXT_LIMITS.fields) {
    const message = `The text selects more than ${TEXT_LIMITS.fields} fields, each fragment counted as often as it is spread`;
    return createProblem(`${message}; select fewer, or write several calls`, range);
  }
  if (aliases > TEXT_LIMITS.aliases) {
    const message = `The text has more than ${TEXT_LIMITS.aliases} aliases; write a loop of calls with variables`;
    return createProblem(message, range);
  }
  const deep = findDeepField(operation.selectionSet, 1, fragments);
  if (deep === undefined) return undefined;
  const message = `"${deep.name.value}" is on level ${TEXT_LIMITS.levels + 1} of the selection, and ${TEXT_LIMITS.levels} can be sent`;
  return createProblem(`${message}; read the inner object with a call of its own, by its id`, getNameRange(deep));
}

interface SelectionSize {
  readonly fields: number;
  readonly aliases: number;
}

const EMPTY: SelectionSize = { fields: 0, aliases: 0 };

/** Counts each fragment once, however often it is spread. */
class SelectionCounter {
  cycle: QueryProblem | undefined;
  readonly #fragments: Fragments;
  /** `undefined` while a fragment is counted. */
  readonly #sizes = new Map<string, SelectionSize | undefined>();

  constructor(fragments: Fragments) {
    this.#fragments = fragments;
  }

  count({ selections }: SelectionSetNode): SelectionSize {
    let [fields, aliases] = [0, 0];
    for (const selection of selections) {
      const isField = selection.kind === Kind.FIELD;
      const inner =
        selection.kind === Kind.FRAGMENT_SPREAD ? this.#countFragment(selection) : this.#countInner(selection);
      fields += inner.fields + (isField ? 1 : 0);
      aliases += inner.aliases + (isField && selection.alias !== undefined ? 1 : 0);
    }
    return { fields, aliases };
  }

  #countInner({ selectionSet }: { readonly selectionSet?: SelectionSetNode | undefined }): SelectionSize {
    return selectionSet === undefined ? EMPTY : this.count(selectionSet);
  }

  #countFragment(
    spread: Extract<SelectionSetNode["selections"][number], { kind: Kind.FRAGMENT_SPREAD }>,
  ): SelectionSize {
    const name = spread.name.value;
    const fragment = this.#fragments.get(name);
    if (fragment === undefined) return EMPTY;
    if (this.#sizes.has(name)) {
      const size = this.#sizes.get(name);
      if (size === undefined) this.cycle ??= createProblem(`Fragment "${name}" spreads itself`, getNameRange(spread));
      return size ?? EMPTY;
    }
    this.#sizes.set(name, undefined);
    const size = this.count(fragment.selectionSet);
    this.#sizes.set(name, size);
    return size;
  }
}

/** Finds the first field that is too deep. The selection has a bounded number of fields, and no cycle. */
function findDeepField({ selections }: SelectionSetNode, level: number, fragments: Fragments): FieldNode | undefined {
  for (const selection of selections) {
    const isField = selection.kind === Kind.FIELD;
    if (isField && level > TEXT_LIMITS.levels) return selection;
    const inner =
      selection.kind === Kind.FRAGMENT_SPREAD
        ? fragments.get(selection.name.value)?.selectionSet
        : selection.selectionSet;
    const deep = inner && findDeepField(inner, isField ? level + 1 : level, fragments);
    if (deep !== undefined) return deep;
  }
  return undefined;
}
