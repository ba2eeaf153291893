/** Captured before skill code can replace them. */
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
 * The built-in methods that all code in a process shares. A skill that changes one of them while it runs would break
 * other skills, so changes are reverted.
 */
export class Builtins {
  #methods: readonly BuiltinMethod[] = allMethods();

  /** Accepts the current state as the baseline: an imported module may add polyfills. */
  accept(): void {
    this.#methods = allMethods();
  }

  /** Reverts changes, and returns the name of the first changed built-in. */
  restore(): string | undefined {
    let changed = findUnknownBuiltins();
    // Uses no iterator and no callback: skill code may have changed them.
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

/** Removes enumerable properties of `Object.prototype`, which every `for … in` would visit. */
function findUnknownBuiltins(): string | undefined {
  let first: string | undefined;
  for (const key in {}) if (deleteProperty(Object.prototype, key)) first ??= `Object.prototype.${key}`;
  return first;
}
