import { truncateText } from "../../../shared/format-text.ts";
import { toVisibleLine } from "../../../shared/visible-text.ts";

const MAX_PROBLEMS = 200;

/** The parts of a document that are left out or changed, each once, with their locations. */
export class ProblemList {
  readonly #problems = new Set<string>();
  /** The subject of the problems from now on. */
  location = "document";

  add(problem: string): void {
    if (this.#problems.size < MAX_PROBLEMS)
      this.#problems.add(truncateText(toVisibleLine(`${truncateText(this.location, 220)}: ${problem}`), 300));
  }

  get list(): readonly string[] {
    return [...this.#problems];
  }
}
