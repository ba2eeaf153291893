import type { Program as Tree } from "acorn";
import { blankOut, type Span } from "./blank-out.ts";
import { ParseFailure } from "./limits/bounded-parser.ts";
import { attempt, parseJavaScript } from "./limits/parser.ts";
import type { ParsedProgram } from "./parse-program.ts";
import { getChild, iterateNodes, type TsNode } from "./strip-types/nodes.ts";

/** Functions of GraphQL clients that stand in front of a text: gql`{ viewer { id } }`. */
const TAGS: ReadonlySet<string> = new Set(["gql", "graphql"]);

/** A fast test before the search: most programs have no tag. */
const MAY_HAVE_TAG = /\b(?:gql|graphql)\s*`/;

/** Reads a text with the tag of a GraphQL client as the text alone. A tag that the program declares or uses otherwise stays. */
export function dropQueryTags(program: ParsedProgram): ParsedProgram {
  if (!MAY_HAVE_TAG.test(program.text)) return program;
  const { tags, templates } = findTags(program.tree);
  if (tags.length === 0) return program;
  const text = blankOut(program.text, tags);
  const tree = attempt(() => parseJavaScript(text));
  // Without its tag, a text at the start of a line may belong to the line before it.
  if (tree instanceof ParseFailure || findTags(tree).templates !== templates - tags.length) return program;
  const names = new Set(tags.map(({ name }) => name));
  const notes = [...names].map((name) => `${name}\`…\` was read as \`…\``);
  return { ...program, text, tree, notes: [...program.notes, ...notes] };
}

interface FoundTags {
  /** The tags to drop, in the order of the text. */
  readonly tags: readonly NamedSpan[];
  /** How many templates have a tag of any name. */
  readonly templates: number;
}

interface NamedSpan extends Span {
  readonly name: string;
}

function findTags(tree: Tree): FoundTags {
  const tags = new Map<TsNode, NamedSpan>();
  const others = new Set<string>();
  let templates = 0;
  for (const node of iterateNodes(tree)) {
    if (node.type === "TaggedTemplateExpression") {
      templates += 1;
      const tag = getChild(node, "tag");
      const name = tag && getTagName(tag);
      if (tag !== undefined && name !== undefined) tags.set(tag, { name, start: tag.start, end: tag.end });
    } else if (!tags.has(node)) others.add(getTagName(node) ?? "");
  }
  const dropped = [...tags.values()].filter(({ name }) => !others.has(name));
  return { tags: dropped.toSorted((a, b) => a.start - b.start), templates };
}

function getTagName(node: TsNode): string | undefined {
  const name = node.type === "Identifier" ? node["name"] : undefined;
  return typeof name === "string" && TAGS.has(name) ? name : undefined;
}
