import { ENCODED, percentDecode, percentEncode } from "./percent.ts";
import { domainToAscii } from "./domain.ts";

/** Parses the host of a URL to its final form; undefined if it is invalid (URL standard, 3.5). */
export function parseHost(text: string, special: boolean): string | undefined {
  if (text.startsWith("[")) return text.endsWith("]") ? parseIpv6(text.slice(1, -1)) : undefined;
  if (!special) return FORBIDDEN.test(text) ? undefined : percentEncode(text, ENCODED.control);
  const domain = domainToAscii(percentDecode(text));
  if (domain === "" || FORBIDDEN_IN_DOMAIN.test(domain)) return undefined;
  return endsInNumber(domain) ? parseIpv4(domain) : domain;
}

// oxlint-disable-next-line no-control-regex -- they are what is looked for
const FORBIDDEN = /[\0\t\n\r #/:<>?@[\\\]^|]/;
// oxlint-disable-next-line no-control-regex -- as above
const FORBIDDEN_IN_DOMAIN = /[\0-\x20#%/:<>?@[\\\]^|\x7f]/;

function endsInNumber(domain: string): boolean {
  const last = splitLabels(domain).at(-1) as string;
  return /^(?:\d+|0x[\da-f]*)$/i.test(last);
}

function splitLabels(domain: string): string[] {
  const labels = domain.split(".");
  if (labels.length > 1 && labels.at(-1) === "") labels.pop();
  return labels;
}

/** Parses one to four numbers, decimal, octal or hexadecimal; the last one fills the remaining bytes. */
function parseIpv4(domain: string): string | undefined {
  const numbers = splitLabels(domain).map(parseIpv4Number);
  const last = numbers.pop() as number;
  if (numbers.length > 3 || numbers.some((number) => !(number <= 255))) return undefined;
  if (!(last < 256 ** (4 - numbers.length))) return undefined;
  const address = numbers.reduce((sum, number, index) => sum + number * 256 ** (3 - index), last);
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join(".");
}

function parseIpv4Number(label: string): number {
  if (/^0x[\da-f]*$/i.test(label)) return label.length === 2 ? 0 : Number(label);
  if (/^0[0-7]+$/.test(label)) return Number.parseInt(label, 8);
  return /^(?:0|[1-9]\d*)$/.test(label) ? Number(label) : Number.NaN;
}

/** Eight pieces of 16 bits; `::` stands once for as many zeros as are missing. */
function parseIpv6(text: string): string | undefined {
  const [head, tail, more] = text.split("::");
  const before = parseIpv6Pieces(head as string, tail === undefined);
  const after = parseIpv6Pieces(tail ?? "", true);
  const missing = 8 - before.length - after.length;
  if (more !== undefined || (tail === undefined ? missing !== 0 : missing < 1)) return undefined;
  const pieces = [...before, ...Array.from({ length: missing }, () => 0), ...after];
  return pieces.some(Number.isNaN) ? undefined : writeIpv6(pieces);
}

/** Parses the pieces between colons; NaN for an invalid one. An IPv4 address at the end gives two pieces. */
function parseIpv6Pieces(text: string, atEnd: boolean): number[] {
  if (text === "") return [];
  const pieces = text.split(":");
  const ipv4 = atEnd && pieces.at(-1)?.includes(".") ? (pieces.pop() as string).split(".") : undefined;
  const numbers = pieces.map((piece) => (/^[\da-f]{1,4}$/i.test(piece) ? Number.parseInt(piece, 16) : Number.NaN));
  if (ipv4 === undefined) return numbers;
  const bytes = ipv4.map((byte) =>
    /^(?:0|[1-9]\d{0,2})$/.test(byte) && Number(byte) < 256 ? Number(byte) : Number.NaN,
  );
  const [a, b, c, d] =
    bytes.length === 4 ? (bytes as [number, number, number, number]) : [Number.NaN, 0, 0, Number.NaN];
  return [...numbers, a * 256 + b, c * 256 + d];
}

/** The longest run of zeros, the first of equals, is written as `::`. */
function writeIpv6(pieces: readonly number[]): string {
  const text = pieces.map((piece) => piece.toString(16)).join(":");
  const runs = [...text.matchAll(/\b0(?::0)+\b/g)];
  const longest = runs.reduce((best, [run]) => (run.length > best.length ? run : best), "");
  if (longest === "") return `[${text}]`;
  const at = runs.find(([run]) => run === longest)?.index as number;
  const before = text.slice(0, at).replace(/:$/, "");
  return `[${before}::${text.slice(at + longest.length).replace(/^:/, "")}]`;
}
