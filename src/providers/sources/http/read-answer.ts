import { setImmediate as nextTurn } from "node:timers/promises";

import { createError } from "../../../errors.ts";
import { isRecord, parseJson } from "../../../model/json.ts";
import { cutText, quote } from "../../../shared/format-text.ts";
import type { Answer } from "../../../shared/http/exchange.ts";
import { type BodyLimits, readBody, readStart } from "../../../shared/http/read-body.ts";
import { describeInexact, inexactToText, parseValueExactly } from "../../../shared/json/exact-json.ts";
import { findShapeExcess } from "../../../shared/json/json-shape.ts";
import { findSizeExcess, requireBounds } from "../../../shared/values/value-size.ts";
import { decodeText, getContentKind, type MediaType, parseMediaType } from "./media-type.ts";

export interface AnswerLimits extends BodyLimits {
  /** Limits on a stream of events, which may never end. */
  readonly eventsBytes: number;
  readonly eventsMs: number;
}

/** Receives remarks whose subject is the result. */
export type AddNote = (text: string) => void;

/**
 * Reads the value of an answer: JSON with its exact numbers, text, a list of lines or events, bytes as a `Uint8Array`, and null for an
 * empty body. Throws `ANSWER_LIMIT` for a value that is too large, and `CALL_FAILED` for broken JSON.
 */
export async function readAnswer(answer: Answer, limits: AnswerLimits, addNote: AddNote): Promise<unknown> {
  const media = parseMediaType(answer.headers);
  const kind = getContentKind(media);
  if (kind === "events") return readEvents(answer, limits, addNote);
  const bytes = await readBody(answer.body, limits);
  if (bytes.length === 0) return null;
  const noteExact = noteInexact(addNote);
  switch (kind) {
    case "JSON":
      return parseText(decodeText(bytes, media, addNote), media.type, noteExact);
    case "lines":
      return parseLines(decodeText(bytes, media, addNote), media, noteExact);
    case "text":
      return decodeText(bytes, media, addNote);
    case "bytes":
      return media.type === "" ? guessValue(bytes, media, addNote) : new Uint8Array(bytes);
  }
}

/** An answer without a media type is a text, if its bytes are UTF-8. */
function guessValue(bytes: Buffer, media: MediaType, addNote: AddNote): unknown {
  let isText = true;
  const text = decodeText(bytes, media, () => (isText = false));
  if (!isText) return new Uint8Array(bytes);
  addNote("has no media type, and is text");
  return text;
}

function parseText(json: string, where: string, toExact: (value: unknown) => unknown): unknown {
  if (json.trim() === "") return null;
  const excess = findShapeExcess(json);
  if (excess !== undefined) throw createError("ANSWER_LIMIT", `it has ${excess}`);
  const value = parseOrRefuse(json, where);
  requireBounds(value, "the API");
  return toExact(value);
}

function parseOrRefuse(json: string, where: string): unknown {
  try {
    return parseValueExactly(json);
  } catch {
    const flaw = `the answer is not valid JSON, although its media type is ${where}; it begins ${quote(json)}`;
    throw createError("CALL_FAILED", flaw);
  }
}

/** `application/json-seq` has the character RS before each value. Other work runs between the lines. */
async function parseLines(
  text: string,
  { type }: MediaType,
  toExact: (value: unknown) => unknown,
): Promise<readonly unknown[]> {
  const lines = text.replaceAll("\u001E", "\n");
  const values: unknown[] = [];
  for (let start = 0, number = 1; start < lines.length; number++) {
    const newline = lines.indexOf("\n", start);
    const end = newline < 0 ? lines.length : newline;
    const line = lines.slice(start, end);
    start = end + 1;
    if (number % TURN_LINES === 0) await nextTurn();
    if (line.trim() !== "") values.push(parseText(line, `${type} (line ${number})`, toExact));
  }
  return values;
}

/** Lines, or events, that are read before other work. */
const TURN_LINES = 1_000;

async function readEvents({ headers, body }: Answer, limits: AnswerLimits, addNote: AddNote): Promise<unknown> {
  const { eventsBytes, eventsMs, stallMs } = limits;
  const { bytes, isCut } = await readStart(body, { maxBytes: eventsBytes, maxMs: eventsMs, stallMs });
  const text = decodeText(bytes, { ...parseMediaType(headers), charset: "utf-8" }, addNote);
  if (isCut) addNote(`is the beginning of a stream, cut after ${bytes.length} bytes or ${eventsMs} ms`);
  const toExact = noteInexact(addNote);
  const events: StreamEvent[] = [];
  for (const event of parseEvents(text, (json) => parseText(json, "text/event-stream", toExact))) {
    if (events.push(event) % TURN_LINES === 0) await nextTurn();
  }
  return events;
}

/** Returns a function that writes numbers which a number cannot hold as text, and adds a note on the first value with such numbers. */
function noteInexact(addNote: AddNote): (value: unknown) => unknown {
  let isNoted = false;
  return (parsed) => {
    const { value, texts } = inexactToText(parsed);
    if (texts.length > 0 && !isNoted) addNote(`has ${describeInexact(texts)}`);
    isNoted ||= texts.length > 0;
    return value;
  };
}

/** Limits on the body of an error. */
const ERROR_BYTES = 64 << 10;
const ERROR_UNITS = 16_000;

/** Reads the body of an error: JSON, or the beginning of a text; `undefined` for an empty body, for bytes, and if it cannot be read. */
export async function readErrorBody({ headers, body }: Answer, { stallMs }: BodyLimits): Promise<unknown> {
  const media = parseMediaType(headers);
  try {
    const { bytes, isCut } = await readStart(body, { maxBytes: ERROR_BYTES, stallMs });
    const kind = getContentKind(media);
    if (bytes.length === 0 || (kind === "bytes" && media.type !== "")) return undefined;
    const text = decodeText(bytes, media, () => {});
    const isJson = kind === "JSON" && !isCut && text.length <= ERROR_UNITS && findShapeExcess(text) === undefined;
    return isJson ? parseJsonOrText(text) : cutText(text, ERROR_UNITS);
  } catch {
    return undefined; // the status says more than a body that broke off
  }
}

function parseJsonOrText(text: string): unknown {
  try {
    const value = parseValueExactly(text);
    return findSizeExcess(value) === undefined ? inexactToText(value).value : text;
  } catch {
    return text;
  }
}

/** An event of `text/event-stream`. Data that is a JSON object or list is that value. */
interface StreamEvent {
  readonly event?: string;
  readonly id?: string;
  readonly data: unknown;
}

/** Parses events (HTML, section 9.2.6). An event without its empty line at the end is left out, as browsers do. */
function* parseEvents(text: string, parse: (json: string) => unknown): Generator<StreamEvent> {
  let fields: { event?: string; id?: string; data: string[] } = { data: [] };
  for (const line of text.split(/\r\n|\n|\r/)) {
    if (line === "") {
      const { data, ...rest } = fields;
      if (data.length > 0) yield { ...rest, data: parseData(data.join("\n"), parse) };
      fields = { data: [] };
      continue;
    }
    const [, name = "", value = ""] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    if (name === "data") fields.data.push(value);
    else if (name === "event" || name === "id") fields[name] = value;
  }
}

function parseData(data: string, parse: (json: string) => unknown): unknown {
  if (!/^\s*[[{]/.test(data)) return data;
  const value = parseJson(data);
  return isRecord(value) || Array.isArray(value) ? parse(data) : data;
}
