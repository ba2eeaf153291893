import { getWrittenNumbers, keepWrittenNumbers } from "./json/exact-json.ts";
import { deleteOldest } from "./lru.ts";
import { MIN_PHRASE_UNITS, type TextPart } from "./masks/phrase-finder.ts";
import { mergeSpans, SecretFinder } from "./masks/secret-finder.ts";

/** The text that replaces a secret. */
export const MASK = "[redacted]";

/** Shorter values are not masked: they occur by chance in texts that hold no secret. */
export const MIN_SECRET_LENGTH = MIN_PHRASE_UNITS;

/** Beyond this number, the values that were added first are forgotten, those that pass before others. */
const MAX_SECRETS = 10_000;

/** The part of a longer secret after this number of characters is not masked. */
const MAX_SECRET_UNITS = 128 << 10;

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
 * JSON, JavaScript, URLs, forms and HTML escape them, in base64 and hex, and in bytes; `maskText` masks whatever has the form of a
 * well-known token as well.
 */
export class KnownSecrets {
  readonly #refresh: () => void;
  readonly #values = new Set<string>();
  /** Those that others replace after a time; the one that was added or used last is the last. */
  readonly #passing = new Set<string>();
  #parent: KnownSecrets | undefined;
  /** Finds every form of every value, except of those that are pending until the next use. */
  #finder = new SecretFinder();
  #pending: string[] = [];
  /** Matches values of any length, as they are. */
  #exactPattern: RegExp | undefined;

  /** `refresh` is called before each use, to add what has become known since. */
  constructor(values: Iterable<string> = [], refresh: () => void = () => {}) {
    this.#refresh = refresh;
    this.add(values);
  }

  add(values: Iterable<string>): void {
    for (const value of [...values].flatMap(toLines)) {
      this.#passing.delete(value);
      this.#add(value);
    }
    if (this.#values.size > MAX_SECRETS) this.#forget();
  }

  /**
   * Adds values that callers and services choose, such as tokens. Their number is not limited, so they are forgotten before others;
   * and words and addresses are not added, because masks of these would spoil the results of all.
   */
  addPassing(values: Iterable<string>): void {
    for (const value of [...values].flatMap(toLines).filter(isUnlikelyText))
      if (this.#passing.delete(value) || this.#add(value)) this.#passing.add(value);
    if (this.#values.size > MAX_SECRETS) this.#forget();
  }

  /** Returns false for a value that is known or too short. */
  #add(value: string): boolean {
    if (value.length < MIN_SECRET_LENGTH || this.#values.has(value)) return false;
    this.#values.add(value);
    this.#pending.push(value);
    return true;
  }

  /** Secrets that are masked beside these, for one connection. Short ones are masked where they stand alone. */
  with(values: Iterable<string>): KnownSecrets {
    const both = new KnownSecrets(values);
    both.#parent = this;
    const exact = [...new Set(values)].filter((value) => value !== "").map(escapePattern);
    if (exact.length > 0) both.#exactPattern = new RegExp(`(?<![A-Za-z0-9])(?:${exact.join("|")})(?![A-Za-z0-9])`, "g");
    return both;
  }

  /** A text without known secrets: for what may hold a caller's own data. */
  mask(text: string): string {
    return this.replace(text, () => MASK);
  }

  /** A text in which `toText` has replaced each form of a known secret. */
  replace(text: string, toText: (found: string) => string): string {
    let replaced = "";
    let last = 0;
    for (const { start, end } of this.#find(text)) {
      replaced += text.slice(last, start) + toText(text.slice(start, end));
      last = end;
    }
    return last === 0 ? text : replaced + text.slice(last);
  }

  /** A text without known secrets and without tokens: for errors, logs and what processes print. */
  maskText(text: string): string {
    return maskTokens(this.mask(text), () => MASK);
  }

  /** The beginning of a message of a stranger, which may be of any length, masked; a secret at the cut is removed. */
  maskMessage(text: string): string {
    if (text.length <= MAX_MESSAGE_UNITS) return this.maskText(text);
    let end = MAX_MESSAGE_UNITS;
    for (const span of this.#find(text.slice(0, end + MAX_CUT_SECRET_UNITS)))
      if (span.start < end && span.end > end) end = span.start;
    return `${this.maskText(text.slice(0, end))}…`;
  }

  /** The end of a text, masked; the cut never leaves the end of a secret behind. */
  maskEnd(text: string, length: number): string {
    let start = Math.max(0, text.length - length);
    for (const span of this.#find(text)) if (span.start < start && span.end > start) start = span.end;
    return this.maskText(text.slice(start));
  }

  /** A value with `mask` applied to every text in it; the same value if no text has a secret. */
  maskValue<Value>(value: Value): Value {
    return this.isEmpty() ? value : replaceTexts(value, (text) => this.mask(text));
  }

  /** A value with `maskText` applied to every text in it; the same value if no text has a secret. */
  maskTexts<Value>(value: Value): Value {
    return replaceTexts(value, (text) => this.maskText(text));
  }

  /** True if a known secret may be in the value that this JSON stands for, in some form. Bytes must be searched by themselves. */
  mayBeIn(json: string): boolean {
    return this.#find(json).length > 0;
  }

  /** True if no secret is known. */
  isEmpty(): boolean {
    this.#refresh();
    const isParentEmpty = this.#parent === undefined || this.#parent.isEmpty();
    return isParentEmpty && this.#values.size === 0 && this.#exactPattern === undefined;
  }

  /** Returns where a text has known secrets, in order and without overlaps. */
  #find(text: string): readonly TextPart[] {
    this.#refresh();
    const own = text.length < MIN_SECRET_LENGTH || this.#values.size === 0 ? NO_SPANS : this.#getFinder().find(text);
    if (this.#parent === undefined) return own;
    const exact = this.#exactPattern === undefined ? [] : [...text.matchAll(this.#exactPattern)];
    const exactSpans = exact.map(({ index, 0: { length } }) => ({ start: index, end: index + length }));
    return mergeSpans([...this.#parent.#find(text), ...own, ...exactSpans]);
  }

  #getFinder(): SecretFinder {
    for (const value of this.#pending) this.#finder.add(value);
    if (this.#pending.length > 0) this.#pending = [];
    return this.#finder;
  }

  /** Forgets more than is necessary, because the others are then prepared again. */
  #forget(): void {
    const isTooFull = (): boolean => this.#values.size > MAX_SECRETS * 0.9;
    const forget = (oldest: string): void => {
      this.#values.delete(oldest);
      this.#passing.delete(oldest);
    };
    deleteOldest(this.#passing, isTooFull, forget);
    deleteOldest(this.#values, isTooFull, forget);
    this.#finder = new SecretFinder();
    this.#pending = [...this.#values];
  }
}

/** True for a text that is in no other text by chance: long, of letters and digits, without the punctuation of addresses and times. */
function isUnlikelyText(value: string): boolean {
  return (
    value.length >= MIN_RANDOM_LENGTH && /^[\w.~+/=|-]+$/.test(value) && /\d/.test(value) && /[A-Za-z]/.test(value)
  );
}

const MIN_RANDOM_LENGTH = 16;

const NO_SPANS: readonly TextPart[] = [];

function toLines(value: string): readonly string[] {
  const whole = value.slice(0, MAX_SECRET_UNITS);
  if (!whole.includes("\n")) return [whole];
  const lines = whole.split("\n").map((line) => line.trim());
  return [whole, ...lines.filter((line) => line.length >= MIN_LINE_LENGTH && !line.startsWith("-----"))];
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
}

type Mask = (text: string) => string;

/** A value with `replace` applied to every text in it; the same value if no text changes. */
export function replaceTexts<Value>(value: Value, replace: Mask): Value {
  return isChanged(value, replace) ? (toMaskedCopy(value, replace, new Map()) as Value) : value;
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

/** Texts, and what may hold some. Numbers count as they were written. */
function getParts(value: object): Iterable<unknown> {
  const written = getWrittenNumbers(value);
  return written === undefined ? getMembers(value) : [...getMembers(value), ...written.values()];
}

/** Objects of every class have the fields that JSON writes; bytes have none. */
function getMembers(value: object): Iterable<unknown> {
  if (Array.isArray(value) || value instanceof Set) return value;
  if (value instanceof Map) return [...value].flat();
  if (ArrayBuffer.isView(value) || hasJsonForm(value)) return [];
  return Object.entries(value instanceof Error ? toFields(value) : value).flat();
}

function toFields(error: Error): Readonly<Record<string, unknown>> {
  return { ...Object.fromEntries(Object.entries(error)), name: error.name, message: error.message };
}

function maskedLeaf(value: unknown, mask: Mask): unknown {
  if (typeof value === "string") return mask(value);
  if (typeof value === "object" && value !== null)
    return hasJsonForm(value) ? maskedJsonForm(value, mask) : maskedBytes(value, mask);
  if (typeof value !== "number" && typeof value !== "bigint") return value;
  if (value < MIN_SECRET_NUMBER && value > -MIN_SECRET_NUMBER && Number.isInteger(value)) return value;
  const digits = String(value);
  return digits.length >= MIN_SECRET_LENGTH && mask(digits) !== digits ? MASK : value;
}

/** Whole numbers below it have too few digits for a secret. */
const MIN_SECRET_NUMBER = 10 ** (MIN_SECRET_LENGTH - 2);

interface JsonForm {
  toJSON(): unknown;
}

/** True for an object that JSON writes as what its `toJSON` returns, such as a URL; dates and bytes are encoded otherwise. */
function hasJsonForm(value: object): value is JsonForm {
  if (value instanceof Date || value instanceof Error || ArrayBuffer.isView(value)) return false;
  return "toJSON" in value && typeof value.toJSON === "function";
}

/** Returns what JSON writes for an object, masked, and the same object if that has no secret. */
function maskedJsonForm(value: JsonForm, mask: Mask): unknown {
  const form = value.toJSON();
  // JSON does not ask again for the form of a form.
  const plain = typeof form === "object" && form !== null && hasJsonForm(form) ? { ...form, toJSON: undefined } : form;
  const copy = replaceTexts(plain, mask);
  return copy === plain ? value : copy;
}

/** Returns bytes with the secrets in them masked, and the same object if it is not bytes or has no secret. */
function maskedBytes(value: object, mask: Mask): unknown {
  const bytes = toBytes(value);
  if (bytes === undefined || bytes.length < MIN_SECRET_LENGTH) return value;
  const text = bytes.toString("latin1");
  const maskedText = mask(text);
  if (maskedText === text) return value;
  const copy = Buffer.from(maskedText, "latin1");
  if (Array.isArray(value)) return [...copy];
  if (value instanceof ArrayBuffer) return new Uint8Array(copy).buffer;
  // The items of other arrays have more bytes than one.
  return Buffer.isBuffer(value) ? copy : value instanceof Uint8Array ? new Uint8Array(copy) : MASK;
}

function toBytes(value: object): Buffer | undefined {
  if (Array.isArray(value)) return value.every(isByte) ? Buffer.from(value) : undefined;
  if (value instanceof ArrayBuffer) return Buffer.from(value);
  return ArrayBuffer.isView(value) ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : undefined;
}

function isByte(item: unknown): item is number {
  return typeof item === "number" && Number.isInteger(item) && item >= 0 && item <= 255;
}

function toMaskedCopy(value: unknown, mask: Mask, copies: Map<unknown, unknown>, depth = 0): unknown {
  const leaf = maskedLeaf(value, mask);
  if (leaf !== value || typeof value !== "object" || value === null) return leaf;
  if (depth > MAX_DEPTH) return MASK;
  if (copies.has(value)) return copies.get(value);
  const copy = (part: unknown): unknown => toMaskedCopy(part, mask, copies, depth + 1);
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    copies.set(value, items);
    for (const item of value) items.push(copy(item));
    return keepWrittenNumbers(value, items, (written) => mask(written) === written);
  }
  if (value instanceof Set) return new Set([...value].map(copy));
  if (value instanceof Map) return new Map([...value].map(([key, item]) => [copy(key), copy(item)]));
  if (!isPlain(value) && !isChanged(value, mask)) return value;
  const fields: Record<string, unknown> = {};
  copies.set(value, fields);
  // Defined, not assigned: a field may be called __proto__.
  for (const [key, item] of Object.entries(value instanceof Error ? toFields(value) : value))
    Object.defineProperty(fields, mask(key), {
      value: copy(item),
      writable: true,
      enumerable: true,
      configurable: true,
    });
  return keepWrittenNumbers(value, fields, (written) => mask(written) === written);
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
  const formats = use === "display" ? DISPLAY_FORMATS : TEXT_FORMATS;
  let masked = "";
  for (let start = 0; start < text.length;) {
    const end = findCut(text, start);
    masked += formats.reduce(
      (clean, { pattern, accepts }) =>
        clean.replace(pattern, (found) => (accepts?.(found) === false ? found : replace(found))),
      text.slice(start, end),
    );
    start = end;
  }
  return masked;
}

/** A longer text is searched in pieces: V8 throws where a repetition in a pattern matches some million characters. */
const PIECE_UNITS = 1 << 20;

/** The longest token that is not cut in two. */
const TOKEN_UNITS = 1 << 14;

/** Finds the end of the piece that begins at `start`: between two words, and not within a PEM block. */
function findCut(text: string, start: number): number {
  const end = start + PIECE_UNITS;
  if (end >= text.length) return text.length;
  const last = text.slice(end - TOKEN_UNITS, end);
  const block = last.lastIndexOf("-----BEGIN ");
  if (block >= 0 && !/-----END [A-Z ]{3,40}-----/.test(last.slice(block))) return end - TOKEN_UNITS + block;
  for (let at = end; at > end - TOKEN_UNITS; at--) if (/[\s"'`<>]/.test(text.charAt(at - 1))) return at;
  return end;
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
  /pass(?:word|wd|phrase)?|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credential|auth|bearer|cookie|session|signature|assertion|(?:^|[_-])key$/i;

/** True for names of variables, options and parameters that usually hold secrets. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}
