/** A value and the time for it. */
export interface TimedItem<Value> {
  readonly at: number;
  readonly value: Value;
}

/** A binary heap: the item with the earliest time is found at once, and added or removed in logarithmic time. */
export class StartHeap<Value> {
  readonly #items: TimedItem<Value>[] = [];

  get size(): number {
    return this.#items.length;
  }

  get first(): TimedItem<Value> | undefined {
    return this.#items[0];
  }

  add(item: TimedItem<Value>): void {
    const items = this.#items;
    let index = items.length;
    items.push(item);
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = items[parentIndex];
      if (parent === undefined || parent.at <= item.at) break;
      items[index] = parent;
      items[parentIndex] = item;
      index = parentIndex;
    }
  }

  /** Removes the first item. */
  removeFirst(): void {
    const items = this.#items;
    const item = items.pop();
    if (item === undefined || items.length === 0) return;
    items[0] = item;
    for (let index = 0; ;) {
      const childIndex = this.#getEarlierChild(index);
      const child = items[childIndex];
      if (child === undefined || child.at >= item.at) return;
      items[index] = child;
      items[childIndex] = item;
      index = childIndex;
    }
  }

  clear(): void {
    this.#items.length = 0;
  }

  #getEarlierChild(index: number): number {
    const left = 2 * index + 1;
    const right = left + 1;
    const isRightEarlier = (this.#items[right]?.at ?? Infinity) < (this.#items[left]?.at ?? Infinity);
    return isRightEarlier ? right : left;
  }
}
