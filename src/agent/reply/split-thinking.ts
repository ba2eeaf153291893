/** A part of a reply, as a delta shows it. */
export interface ReplyPart {
  readonly channel: "text" | "thinking";
  readonly text: string;
}

/** An opening tag at the start of a line, with the space before it. */
const OPENING = /(?:^|(?<=\n))[ \t]*<(think|thinking|thought|reasoning)>\n?/i;

/** The beginning of a line that may become an opening tag. */
const MAYBE_OPENING = /(?:^|\n)[ \t]*<?[a-z]{0,9}$/i;

const MAX_TAG_UNITS = 12;

/** Separates thoughts that a model writes between tags from its text, while the reply is streamed. */
export class ThinkingSplitter {
  #pending = "";
  /** The name of the open tag. */
  #tag: string | undefined;

  push(delta: string): readonly ReplyPart[] {
    this.#pending += delta;
    const parts: ReplyPart[] = [];
    for (;;) {
      const part = this.#tag === undefined ? this.#takeText() : this.#takeThinking(this.#tag);
      if (part === undefined) return parts;
      if (part.text !== "") parts.push(part);
    }
  }

  /** Returns the rest at the end of the reply. */
  end(): readonly ReplyPart[] {
    const text = this.#pending;
    this.#pending = "";
    return text === "" ? [] : [{ channel: this.#tag === undefined ? "text" : "thinking", text }];
  }

  #takeText(): ReplyPart | undefined {
    const found = OPENING.exec(this.#pending);
    if (found !== null) {
      const text = this.#take(found.index);
      this.#take(found[0].length);
      this.#tag = found[1]?.toLowerCase() ?? "think";
      return { channel: "text", text };
    }
    return this.#takeRest("text", MAYBE_OPENING.exec(this.#pending.slice(-MAX_TAG_UNITS))?.[0].length ?? 0);
  }

  #takeThinking(tag: string): ReplyPart | undefined {
    const closing = `</${tag}>`;
    const at = this.#pending.toLowerCase().indexOf(closing);
    if (at >= 0) {
      const text = this.#take(at);
      this.#take(closing.length);
      this.#pending = this.#pending.replace(/^\s+/, "");
      this.#tag = undefined;
      return { channel: "thinking", text };
    }
    return this.#takeRest("thinking", lengthOfBeginning(this.#pending, closing));
  }

  /** Takes all but the last units, which may be the beginning of a tag. */
  #takeRest(channel: ReplyPart["channel"], pendingUnits: number): ReplyPart | undefined {
    const text = this.#take(this.#pending.length - pendingUnits);
    return text === "" ? undefined : { channel, text };
  }

  #take(units: number): string {
    const text = this.#pending.slice(0, units);
    this.#pending = this.#pending.slice(units);
    return text;
  }
}

/** Returns the length of the longest end of the text with which `closing` begins. */
function lengthOfBeginning(text: string, closing: string): number {
  const end = text.slice(-closing.length).toLowerCase();
  for (let at = 0; at < end.length; at++) if (closing.startsWith(end.slice(at))) return end.length - at;
  return 0;
}

/** Thoughts before a closing tag whose opening tag is missing, because the server put it into the prompt. */
export function splitStrayThinking(text: string): { readonly thinking: string; readonly text: string } {
  const found = /<\/(?:think|thinking|thought|reasoning)>\s*/i.exec(text);
  if (found === null) return { thinking: "", text };
  return { thinking: text.slice(0, found.index), text: text.slice(found.index + found[0].length) };
}
