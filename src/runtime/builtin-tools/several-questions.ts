import type { Description, SearchAnswer } from "../../registry/index.ts";

/** Length of the answers to several searches together, and the least of each, in tokens. */
const MAX_TOKENS = 1_400;
const MIN_TOKENS = 250;

/** The length that each of several searches may have. A single one has the default. */
export function getTokensOfEach(count: number): { readonly maxTokens?: number } {
  return count === 1 ? {} : { maxTokens: Math.max(MIN_TOKENS, Math.floor(MAX_TOKENS / count)) };
}

/** Joins answers, each under its question. A single answer needs no heading. */
export function joinTexts(questions: readonly string[], answers: readonly { readonly text: string }[]): string {
  if (answers.length === 1) return answers[0]?.text ?? "";
  return answers.map(({ text }, at) => `## ${questions[at]}\n${text}`).join("\n\n");
}

/** Joins the answers to several searches. A method that several have found is listed once. */
export function joinSearches(queries: readonly string[], answers: readonly SearchAnswer[]): SearchAnswer {
  const results = new Map(answers.flatMap((answer) => answer.results.map((result) => [result.path, result])));
  const searched = answers.find((answer) => answer.searched !== undefined)?.searched;
  return { results: [...results.values()], text: joinTexts(queries, answers), ...(searched && { searched }) };
}

/** Joins several descriptions. They are unknown only if each is. */
export function joinDescriptions(paths: readonly string[], descriptions: readonly Description[]): Description {
  const [only, ...others] = descriptions;
  if (only !== undefined && others.length === 0) return only;
  const joinLists = (list: "methods" | "notes" | "suggestions"): readonly string[] => [
    ...new Set(descriptions.flatMap((each) => each[list])),
  ];
  return {
    kind: descriptions.every(({ kind }) => kind === "unknown") ? "unknown" : "several",
    path: paths.join(", "),
    methods: joinLists("methods"),
    declaration: descriptions
      .map(({ declaration }) => declaration)
      .filter(Boolean)
      .join("\n"),
    example: "",
    notes: joinLists("notes"),
    suggestions: joinLists("suggestions"),
    text: joinTexts(paths, descriptions),
  };
}
