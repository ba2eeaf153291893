import { Text } from "./text.tsx";

/** A part of a program in one colour; without a kind, it has the colour of the text. */
interface ProgramPart {
  readonly kind?: string;
  readonly text: string;
}

const WORDS =
  "async|await|break|case|catch|class|const|continue|default|do|else|extends|finally|for|function|if|in|instanceof|let|new|of|" +
  "return|switch|this|throw|try|typeof|var|void|while|yield|true|false|null|undefined";

/** Comments, texts, numbers and words of the language. Each form matches in time that grows with its length alone. */
const TOKENS = new RegExp(
  [
    String.raw`(?<comment>//[^\n]*|/\*[^]*?(?:\*/|$))`,
    String.raw`(?<string>"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|` + "`(?:\\\\[^]|[^`\\\\])*`?)",
    String.raw`(?<number>\b\d[\w.]*)`,
    String.raw`(?<keyword>\b(?:${WORDS})\b)`,
    String.raw`(?<name>[\w$]+)`,
  ].join("|"),
  "g",
);

/** Longer programs have one colour. */
const MAX_UNITS = 50_000;

/** Returns the lines of a program as parts that have a colour each. */
export function splitProgram(source: string): readonly (readonly ProgramPart[])[] {
  if (source.length > MAX_UNITS) return source.split("\n").map((text) => [{ text }]);
  const lines: ProgramPart[][] = [[]];
  const add = (text: string, kind?: string): void => {
    for (const [at, part] of text.split("\n").entries()) {
      if (at > 0) lines.push([]);
      if (part !== "") lines.at(-1)?.push(kind === undefined ? { text: part } : { kind, text: part });
    }
  };
  let end = 0;
  for (const { 0: text, index, groups = {} } of source.matchAll(TOKENS)) {
    const kind = ["comment", "string", "number", "keyword"].find((each) => groups[each] !== undefined);
    if (kind === undefined) continue;
    add(source.slice(end, index));
    add(text, kind);
    end = index + text.length;
  }
  add(source.slice(end));
  return lines;
}

/** One line of a program, in colours. */
export function ProgramLine({ tokens }: { readonly tokens: readonly ProgramPart[] }) {
  return (
    <>
      {tokens.map(({ kind, text }, at) => (
        <Text key={at} in="span" class={kind === undefined ? "" : `program-${kind}`} value={text} limit={1_000} />
      ))}
    </>
  );
}

/** A program in colours, as it was written. */
export function Program({ label, source }: { readonly label: string; readonly source: string }) {
  return (
    <pre class="code" tabIndex={0} aria-label={label}>
      {splitProgram(source).map((tokens, at) => (
        <div key={at} class="program-line">
          <ProgramLine tokens={tokens} />
        </div>
      ))}
    </pre>
  );
}
