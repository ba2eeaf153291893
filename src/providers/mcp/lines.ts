import type { Client } from "../../model/client.ts";
import type { CallContext } from "../../model/skill.ts";
import { abilitiesOf, Audience } from "./audience.ts";
import type { Link } from "./link.ts";

/** How long a line of one caller stays open after its last call. */
const IDLE_MS = 60_000;

/** More callers than this at a time share the line of those that cannot be asked. */
const MOST_LINES = 16;

/** A way to a server, and those who are calling on it. */
export interface Line {
  readonly link: Link;
  readonly audience: Audience;
}

interface OwnLine extends Line {
  calls: number;
  idle: NodeJS.Timeout | undefined;
}

export interface LinesOptions {
  readonly shared: Line;
  /** Who is asked on the line that all share. */
  readonly client: Client | undefined;
  /** Makes a way on which the server may ask what this audience can answer. */
  readonly open: (audience: Audience, caller: string) => Link;
}

/**
 * The lines to one server. Most calls share one. A caller that can be asked something has one of its own: a server does
 * not say whom it asks, so that on a shared line one could be asked for another.
 */
export class Lines {
  readonly #options: LinesOptions;
  readonly #own = new Map<string, OwnLine>();

  constructor(options: LinesOptions) {
    this.#options = options;
  }

  /** Makes a call on the line of its caller. */
  async use<Result>(context: CallContext, call: (line: Line) => Promise<Result>): Promise<Result> {
    const line = this.#ownLine(context);
    if (line === undefined) return callOn(this.#options.shared, context, call);
    line.calls += 1;
    clearTimeout(line.idle);
    try {
      return await callOn(line, context, call);
    } finally {
      line.calls -= 1;
      if (line.calls === 0) this.#closeLater(line);
    }
  }

  async close(): Promise<void> {
    const own = [...this.#own.values()];
    this.#own.clear();
    for (const { idle } of own) clearTimeout(idle);
    await Promise.all(own.map(({ link }) => link.close()));
  }

  #ownLine(context: CallContext): OwnLine | undefined {
    const abilities = abilitiesOf(context.client);
    if (abilities === "" || context.client === this.#options.client) return undefined;
    const key = `${context.caller.id} ${abilities}`;
    const known = this.#own.get(key);
    // A line that could not be opened is tried anew: what kept it from opening may be over.
    if (known !== undefined && known.link.state.kind !== "error") return known;
    if (this.#own.size >= MOST_LINES) return undefined;
    const audience = new Audience(context.client);
    const line: OwnLine = {
      audience,
      link: this.#options.open(audience, context.caller.id),
      calls: 0,
      idle: undefined,
    };
    this.#own.set(key, line);
    return line;
  }

  #closeLater(line: OwnLine): void {
    line.idle = setTimeout(() => {
      for (const [key, each] of this.#own) if (each === line) this.#own.delete(key);
      void line.link.close();
    }, IDLE_MS).unref();
  }
}

function callOn<Result>(line: Line, context: CallContext, call: (line: Line) => Promise<Result>): Promise<Result> {
  return line.audience.during(context, async () => {
    await line.link.wake();
    return call(line);
  });
}
