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
