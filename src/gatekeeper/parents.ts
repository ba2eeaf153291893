import type { AnyNode } from "acorn";

/** Where each node of a tree stands. */
export interface Parents {
  get(node: AnyNode): AnyNode | undefined;
  /** All nodes but the root, in the order of the text. */
  keys(): Iterable<AnyNode>;
}

const PARENT = Symbol("parent");

type Placed = AnyNode & { [PARENT]?: AnyNode };

/** Kept on the nodes themselves: a map of all nodes takes a fifth of the time that everything takes. */
export class ParentsOnNodes implements Parents {
  readonly #nodes: AnyNode[] = [];

  add(node: AnyNode, parent: AnyNode): void {
    (node as Placed)[PARENT] = parent; // a symbol is no field of the tree
    this.#nodes.push(node);
  }

  get(node: AnyNode): AnyNode | undefined {
    return (node as Placed)[PARENT];
  }

  keys(): Iterable<AnyNode> {
    return this.#nodes;
  }
}
