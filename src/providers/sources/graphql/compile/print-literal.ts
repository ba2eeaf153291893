import { type ConstValueNode, print, visit } from "graphql";

import { toVisibleLine } from "../../../../shared/visible-text.ts";

/** Prints a default value in one line, with what shows nothing as escapes: models read it in signatures. */
export function printLiteral(value: ConstValueNode): string {
  return toVisibleLine(print(visit(value, { StringValue: (node) => ({ ...node, block: false }) })));
}
