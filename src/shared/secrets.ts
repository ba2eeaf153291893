import { deleteOldest } from "./lru.ts";
import { MASK, MIN_SECRET_LENGTH } from "./masks/mask.ts";
import type { TextPart } from "./masks/phrase-finder.ts";
import { replaceTexts } from "./masks/replace-texts.ts";
import { mergeSpans, SecretFinder } from "./masks/secret-finder.ts";
import { maskTokens } from "./masks/token-formats.ts";

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
