const ISSUES = [
  { id: 1, assignee: "Ada", state: "open" },
  { id: 2, assignee: "Bob", state: "closed" },
  { id: 3, assignee: "Ada", state: "open" },
  { id: 4, assignee: "Bob", state: "open" },
];

/** Keeps the issues of a project. */
export class TrackerSkill {
  /**
   * List issues.
   * @param {"open" | "closed"} state Issues in this state
   * @returns {{ id: number, assignee: string }[]}
   * @readonly
   */
  listIssues(state) {
    return ISSUES.filter((issue) => issue.state === state);
  }
}
