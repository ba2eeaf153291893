/** Taken before any skill can put something else in their place. */
const { defineProperty, deleteProperty, get, getOwnPropertyDescriptor, ownKeys } = Reflect;

const SHARED: Readonly<Record<string, object>> = {
  Array,
  BigInt,
  Boolean,
  Date,
  Function,
  JSON,
  Map,
  Math,
  Number,
  Object,
  Promise,
  Reflect,
  RegExp,
  Set,
  String,
  Symbol,
  WeakMap,
};

interface BuiltinMethod {
  readonly name: string;
  readonly holder: object;
  readonly key: PropertyKey;
  readonly value: unknown;
}

/**
 * What all code in a process shares: the methods of arrays, texts, promises and so on. Whoever changes one of them while
 * it runs breaks skills that know nothing of it, so it is put back.
 */
export class Builtins {
  #methods: readonly BuiltinMethod[] = allMethods();

  /** What counts from now on is what is there now: a module may add what its language lacks. */
  accept(): void {
    this.#methods = allMethods();
  }

  /** Puts back what has changed, and names the first of it. */
  restore(): string | undefined {
    let changed = strangers();
    // No iterator and no callback: those may be what has changed.
    for (let index = 0; index < this.#methods.length; index++) {
      const method = this.#methods[index];
      if (method === undefined) continue;
      const { holder, key, value, name } = method;
      if (get(holder, key) === value) continue;
      if (defineProperty(holder, key, { value, writable: true, enumerable: false, configurable: true }))
        changed ??= name;
    }
    return changed;
  }
}

function allMethods(): readonly BuiltinMethod[] {
  return Object.entries(SHARED).flatMap(([name, holder]) => {
    const { prototype }: { readonly prototype?: unknown } = holder;
    const own = getMethods(holder, name);
    return typeof prototype === "object" || typeof prototype === "function"
      ? [...own, ...getMethods(prototype ?? {}, `${name}.prototype`)]
      : own;
  });
}

function getMethods(holder: object, name: string): readonly BuiltinMethod[] {
  return ownKeys(holder).flatMap((key) => {
    const descriptor = getOwnPropertyDescriptor(holder, key);
    const value: unknown = descriptor?.value;
    if (typeof value !== "function" || key === "constructor" || descriptor?.configurable !== true) return [];
    return { name: typeof key === "string" ? `${name}.${key}` : `${name}[${String(key)}]`, holder, key, value };
  });
}

/** Takes away what every `for … in` would find. */
function strangers(): string | undefined {
  let first: string | undefined;
  for (const key in {}) if (deleteProperty(Object.prototype, key)) first ??= `Object.prototype.${key}`;
  return first;
}
