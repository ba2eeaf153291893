import { deleteOldest } from "./lru.ts";

/** The text that replaces a secret. */
export const MASK = "[redacted]";

/** Shorter values are not masked: they occur by chance in texts that hold no secret. */
export const MIN_SECRET_LENGTH = 8;

/** Beyond this number, the values that were added first are forgotten. */
const MAX_SECRETS = 500;

/** Lines of a secret of several lines, such as a private key, are masked one by one from this length on. */
const MIN_LINE_LENGTH = 16;

/** Longer log lines, progress and notes are cut. */
const MAX_MESSAGE_UNITS = 16 << 10;

/** Longest form of a secret that is recognized where a message is cut. */
const MAX_CUT_SECRET_UNITS = 4 << 10;

/** Deeper parts of a value that holds a secret are masked whole. */
const MAX_DEPTH = 500;

/**
 * The secrets that configuration has named, and the one place that masks them. Known secrets are masked as they are, as
 * JSON and URLs write them, and in base64; `maskText` masks whatever has the form of a well-known token as well.
 */
export class KnownSecrets {
  readonly #refresh: () => void;
  readonly #values = new Set<string>();
  /** Values of any length, which are masked as they are. */
  readonly #exact = new Set<string>();
  #parent: KnownSecrets | undefined;
  /** Matches every form of every value; `undefined` until the next use after a change. */
  #pattern: RegExp | undefined;
  /** The expression of the parent that is part of `#pattern`. */
  #inherited: RegExp | undefined;

  /** `refresh` is called before each use, to add what has become known since. */
  constructor(values: Iterable<string> = [], refresh: () => void = () => {}) {
    this.#refresh = refresh;
    this.add(values);
  }

  add(values: Iterable<string>): void {
    for (const value of [...values].flatMap(withLines)) {
      if (value.length < MIN_SECRET_LENGTH || this.#values.has(value)) continue;
      this.#values.add(value);
      deleteOldest(
        this.#values,
        () => this.#values.size > MAX_SECRETS,
        (oldest) => this.#values.delete(oldest),
      );
      this.#pattern = undefined;
    }
  }

  /** Secrets that are masked beside these, for one connection. Short ones are masked where they stand alone. */
  with(values: Iterable<string>): KnownSecrets {
    const both = new KnownSecrets(values);
    both.#parent = this;
    for (const value of values) if (value !== "") both.#exact.add(value);
    return both;
  }

  /** A text without known secrets: for what may hold a caller's own data. */
  mask(text: string): string {
    return text.replace(this.#matcher(), MASK);
  }

  /** A text in which `toText` has replaced each form of a known secret. */
  replace(text: string, toText: (found: string) => string): string {
    return text.replace(this.#matcher(), toText);
  }

  /** A text without known secrets and without tokens: for errors, logs and what processes print. */
  maskText(text: string): string {
    return maskTokens(this.mask(text), () => MASK);
  }

  /** The beginning of a message of a stranger, which may be of any length, masked; a secret at the cut is removed. */
  maskMessage(text: string): string {
    if (text.length <= MAX_MESSAGE_UNITS) return this.maskText(text);
    let end = MAX_MESSAGE_UNITS;
    for (const { index, 0: found } of text.slice(0, end + MAX_CUT_SECRET_UNITS).matchAll(this.#matcher()))
      if (index < end && index + found.length > end) end = index;
    return `${this.maskText(text.slice(0, end))}…`;
  }

  /** The end of a text, masked; the cut never leaves the end of a secret behind. */
  maskEnd(text: string, length: number): string {
    let start = Math.max(0, text.length - length);
    for (const { index, 0: found } of text.matchAll(this.#matcher()))
      if (index < start && index + found.length > start) start = index + found.length;
    return this.maskText(text.slice(start));
  }

  /** A value with `mask` applied to every text in it; the same value if no text has a secret. */
  maskValue<Value>(value: Value): Value {
    return this.#matcher() === NOTHING ? value : masked(value, (text) => this.mask(text));
  }

  /** A value with `maskText` applied to every text in it; the same value if no text has a secret. */
  maskTexts<Value>(value: Value): Value {
    return masked(value, (text) => this.maskText(text));
  }

  #matcher(): RegExp {
    this.#refresh();
    const inherited = this.#parent === undefined ? NOTHING : this.#parent.#matcher();
    if (this.#values.size === 0 && this.#exact.size === 0) return inherited;
    if (inherited !== this.#inherited) this.#pattern = undefined;
    this.#inherited = inherited;
    // In reverse order, a form that begins with another one comes before it.
    this.#pattern ??= new RegExp(
      [
        ...[...new Set([...this.#values].flatMap(getForms))].toSorted().toReversed(),
        ...[...this.#exact].map((value) => `(?<![A-Za-z0-9])${escapePattern(value)}(?![A-Za-z0-9])`),
        ...(inherited === NOTHING ? [] : [inherited.source]),
      ].join("|"),
      "g",
    );
    return this.#pattern;
  }
}

/** Matches nowhere. */
const NOTHING = /(?!)/g;

function withLines(value: string): readonly string[] {
  if (!value.includes("\n")) return [value];
  const lines = value.split("\n").map((line) => line.trim());
  return [value, ...lines.filter((line) => line.length >= MIN_LINE_LENGTH && !line.startsWith("-----"))];
}

/** The ways in which programs write a value, as parts of a regular expression. */
function getForms(value: string): readonly string[] {
  const bytes = Buffer.from(value);
  const forms = [
    value,
    JSON.stringify(value).slice(1, -1),
    encodeURIComponent(bytes.toString()), // through bytes, because half a surrogate pair has no such form
    bytes.toString("base64").replace(/=+$/, ""),
    bytes.toString("base64url"),
  ].map(escapePattern);
  // A word is only a secret where it stands alone.
  return /^[A-Za-z]+$/.test(value) ? [`\\b${value}\\b`, ...forms.slice(3)] : forms;
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
}

/** A value with `replace` applied to every text in it; the same value if no text changes. */
export function replaceTexts<Value>(value: Value, replace: (text: string) => string): Value {
  return masked(value, replace);
}

type Mask = (text: string) => string;

function masked<Value>(value: Value, mask: Mask): Value {
  return isChanged(value, mask) ? (toMaskedCopy(value, mask, new Map()) as Value) : value;
}

function isChanged(value: unknown, mask: Mask): boolean {
  const pending: unknown[] = [value];
  const visited = new Set<unknown>();
  while (pending.length > 0) {
    const next = pending.pop();
    if (maskedLeaf(next, mask) !== next) return true;
    if (typeof next !== "object" || next === null || visited.has(next)) continue;
    visited.add(next);
    for (const part of getParts(next)) pending.push(part);
  }
  return false;
}

/** Texts, and what may hold some; bytes and objects of other classes are left alone. */
function getParts(value: object): Iterable<unknown> {
  if (Array.isArray(value) || value instanceof Set) return value;
  if (value instanceof Map) return [...value].flat();
  return isPlain(value) ? Object.entries(value).flat() : [];
}

function maskedLeaf(value: unknown, mask: Mask): unknown {
  if (typeof value === "string") return mask(value);
  if (typeof value !== "number" && typeof value !== "bigint") return value;
  const digits = String(value);
  return digits.length >= MIN_SECRET_LENGTH && mask(digits) !== digits ? MASK : value;
}

function toMaskedCopy(value: unknown, mask: Mask, copies: Map<unknown, unknown>, depth = 0): unknown {
  if (typeof value !== "object" || value === null) return maskedLeaf(value, mask);
  if (depth > MAX_DEPTH) return MASK;
  if (copies.has(value)) return copies.get(value);
  const copy = (part: unknown): unknown => toMaskedCopy(part, mask, copies, depth + 1);
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    copies.set(value, items);
    for (const item of value) items.push(copy(item));
    return items;
  }
  if (value instanceof Set) return new Set([...value].map(copy));
  if (value instanceof Map) return new Map([...value].map(([key, item]) => [copy(key), copy(item)]));
  if (!isPlain(value)) return value;
  const fields: Record<string, unknown> = {};
  copies.set(value, fields);
  // Defined, not assigned: a field may be called __proto__.
  for (const [key, item] of Object.entries(value))
    Object.defineProperty(fields, mask(key), {
      value: copy(item),
      writable: true,
      enumerable: true,
      configurable: true,
    });
  return fields;
}

function isPlain(value: object): value is Record<string, unknown> {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/** A form in which a well-known service gives out keys, or in which texts of any kind hold credentials. */
interface TokenFormat {
  readonly name: string;
  readonly pattern: RegExp;
  /** Decides where the pattern alone does not. */
  readonly accepts?: (found: string) => boolean;
  /** Only where configuration is displayed: elsewhere it would mask what is not secret, such as digests. */
  readonly isForDisplay?: true;
}

/** Each pattern takes linear time for every text, and matches the whole of what is masked. */
export const TOKEN_FORMATS: readonly TokenFormat[] = [
  { name: "PEM block", pattern: /-----BEGIN [A-Z ]{3,40}-----[\s\S]*?(?:-----END [A-Z ]{3,40}-----|$)/ },
  { name: "password in a URL", pattern: /(?<=:\/\/[^\s/?#@:"'`<>]{0,200}:)[^\s/?#@"'`<>]{1,400}(?=@)/ },
  { name: "OpenAI, Anthropic, Stripe", pattern: /sk[-_][\w-]{8,}/ },
  { name: "Skillgate", pattern: /sg_[0-9a-z]{12}_[\w-]{20,}/ },
  { name: "Stripe", pattern: /[pr]k_(?:live|test)_\w{8,}/ },
  { name: "GitHub", pattern: /gh[pousr]_\w{16,}|github_pat_\w{20,}/ },
  { name: "GitLab", pattern: /glpat-[\w-]{10,}/ },
  { name: "Slack", pattern: /xox[a-z]-[\w-]{10,}/ },
  { name: "AWS access key", pattern: /(?:AKIA|ASIA)[0-9A-Z]{16}/ },
  { name: "Google API key", pattern: /AIza[\w-]{30,}/ },
  { name: "Google OAuth", pattern: /ya29\.[\w-]{10,}/ },
  { name: "npm", pattern: /npm_\w{20,}/ },
  { name: "Hugging Face", pattern: /hf_\w{20,}/ },
  {
    name: "JSON web token",
    // The optional part keeps the time linear: a run without a dot is taken as a whole, and refused.
    pattern: /eyJ[\w-]{8,}(?:\.[\w-]{8,}(?:\.[\w-]*)?)?/,
    accepts: (found) => found.includes("."),
  },
  { name: "random", pattern: /[\w-]{28,}/, accepts: looksRandom },
  {
    name: "letters and digits",
    pattern: /(?=[A-Za-z]{0,200}\d)(?=\d{0,200}[A-Za-z])[A-Za-z0-9]{28,}/,
    isForDisplay: true,
  },
];

/** A long run of letters in both cases and digits, as keys are; not a hash or a UUID, which have one case. */
function looksRandom(found: string): boolean {
  return /[A-Za-z0-9]{28,}/.test(found) && /[a-z]/.test(found) && /[A-Z]/.test(found) && /\d.*\d/.test(found);
}

/** A text in which `replace` has replaced each token; `display` for texts of configuration, which hold no other data. */
export function maskTokens(
  text: string,
  replace: (found: string) => string,
  use: "texts" | "display" = "texts",
): string {
  return (use === "display" ? DISPLAY_FORMATS : TEXT_FORMATS).reduce(
    (clean, { pattern, accepts }) =>
      clean.replace(pattern, (found) => (accepts?.(found) === false ? found : replace(found))),
    text,
  );
}

const TEXT_FORMATS = compiled(TOKEN_FORMATS.filter(({ isForDisplay }) => isForDisplay !== true));
const DISPLAY_FORMATS = compiled(TOKEN_FORMATS);

/** Formats without a test of their own are one expression. */
function compiled(formats: readonly TokenFormat[]): readonly Pick<TokenFormat, "pattern" | "accepts">[] {
  const plain = formats.filter(({ accepts }) => accepts === undefined).map(({ pattern }) => pattern.source);
  const tested = formats.flatMap(({ pattern, accepts }) =>
    accepts === undefined ? [] : [{ pattern: standingAlone(pattern.source), accepts }],
  );
  return [{ pattern: standingAlone(plain.join("|")) }, ...tested];
}

/** Matches where no letter or digit comes before, except those of an escape such as `\\n`. */
function standingAlone(source: string): RegExp {
  return new RegExp(String.raw`(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))(?:${source})`, "g");
}

const SECRET_NAME =
  /pass(?:word|wd|phrase)?|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credential|auth|bearer|cookie|session|signature|(?:^|[_-])key$/i;

/** True for names of variables, options and parameters that usually hold secrets. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}
