/** An issue of the project. */
interface Issue {
  readonly id: number;
  readonly title: string;
  readonly assignee: string;
  readonly label: "bug" | "feature" | "question";
  readonly state: "open" | "closed";
}

const PEOPLE = ["ada", "bob", "eve", "kim"] as const;
const LABELS = ["bug", "feature", "question"] as const;

/** 137 issues; the numbers that divide them are coprime, so that every combination occurs. */
const ISSUES: readonly Issue[] = Array.from({ length: 137 }, (_, index) => ({
  id: index + 1,
  title: `Issue ${index + 1}`,
  assignee: PEOPLE[(index * 7 + Math.floor(index / 5)) % 4] ?? "ada",
  label: LABELS[(index * 5 + Math.floor(index / 4)) % 3] ?? "bug",
  state: index % 11 < 4 ? "open" : "closed",
}));

const PAGE_SIZE = 20;

/** Keeps the issues of a project. */
export class TrackerSkill {
  /**
   * List issues, 20 on each page.
   * @param state Issues in this state
   * @param page From 1; the last page has fewer issues, or none
   * @returns The issues of the page
   * @readonly
   * @example device.TrackerSkill.listIssues("open", 2)
   */
  listIssues(state: "open" | "closed", page: number = 1): Issue[] {
    return ISSUES.filter((issue) => issue.state === state).slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE);
  }
}
