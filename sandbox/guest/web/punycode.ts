import { codePointsToText } from "./utf8.ts";

/** Encodes a text of any letters in Punycode (RFC 3492): ASCII letters, digits and hyphens. */
export function encodePunycode(text: string): string {
  const points = Array.from(text, (letter) => letter.codePointAt(0) as number);
  const basic = points.filter((point) => point < INITIAL_N);
  let output = codePointsToText(basic) + (basic.length > 0 ? "-" : "");
  let done = basic.length;
  let current = INITIAL_N;
  let bias = INITIAL_BIAS;
  for (let delta = 0; done < points.length; delta++, current++) {
    const next = points.reduce((least, point) => (point >= current && point < least ? point : least), Infinity);
    delta += (next - current) * (done + 1);
    current = next;
    for (const point of points) {
      if (point < current) delta++;
      if (point !== current) continue;
      output += writeNumber(delta, bias);
      bias = adapt(delta, done + 1, done === basic.length);
      delta = 0;
      done++;
    }
  }
  return output;
}

/** Decodes Punycode; undefined if the text is not Punycode. */
export function decodePunycode(text: string): string | undefined {
  const hyphen = text.lastIndexOf("-");
  const points = Array.from(text.slice(0, Math.max(0, hyphen)), (letter) => letter.charCodeAt(0));
  const basics = points.length;
  let current = INITIAL_N;
  let bias = INITIAL_BIAS;
  let index = 0;
  for (let at = hyphen + 1; at < text.length; index++) {
    const number = readNumber(text, at, bias);
    if (number === undefined) return undefined;
    at = number.end;
    index += number.value;
    const length = points.length + 1;
    bias = adapt(number.value, length, length === basics + 1);
    current += Math.floor(index / length);
    if (current > 0x10_ff_ff) return undefined;
    index %= length;
    points.splice(index, 0, current);
  }
  return codePointsToText(points);
}

const DIGITS = "abcdefghijklmnopqrstuvwxyz0123456789";
const BASE = DIGITS.length;
const INITIAL_N = 128;
const INITIAL_BIAS = 72;

/** Writes a number of variable length: the weights of the digits mark the last digit as the last. */
function writeNumber(number: number, bias: number): string {
  let digits = "";
  let rest = number;
  for (let position = 1; ; position++) {
    const threshold = thresholdAt(position, bias);
    if (rest < threshold) return digits + (DIGITS[rest] as string);
    const weight = BASE - threshold;
    digits += DIGITS[threshold + ((rest - threshold) % weight)] as string;
    rest = Math.floor((rest - threshold) / weight);
  }
}

function readNumber(text: string, start: number, bias: number): { value: number; end: number } | undefined {
  let value = 0;
  let weight = 1;
  for (let position = 1; value < 2 ** 31; position++) {
    const end = start + position;
    const digit = DIGITS.indexOf(text[end - 1] ?? "?");
    if (digit < 0) return undefined;
    value += digit * weight;
    const threshold = thresholdAt(position, bias);
    if (digit < threshold) return { value, end };
    weight *= BASE - threshold;
  }
  return undefined;
}

function thresholdAt(position: number, bias: number): number {
  return Math.min(26, Math.max(1, position * BASE - bias));
}

function adapt(delta: number, length: number, first: boolean): number {
  let rest = Math.floor(delta / (first ? 700 : 2));
  rest += Math.floor(rest / length);
  let bias = 0;
  for (; rest > 455; bias += BASE) rest = Math.floor(rest / 35);
  return bias + Math.floor((36 * rest) / (rest + 38));
}
