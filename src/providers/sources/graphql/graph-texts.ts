import type { QueryText } from "../../../model/skill.ts";
import { hideBytes } from "./call/uploads.ts";
import type { CheckedDocument, QueryChecker } from "./check/index.ts";
import { type GraphMethodName, listPartNames, type RootFields, toOperationKind } from "./root-fields.ts";

/** Checks the texts of calls against the schema of an API and the root fields that its skill offers. */
export class GraphTexts {
  readonly #checker: QueryChecker;
  readonly #fields: RootFields;

  constructor(checker: QueryChecker, fields: RootFields) {
    this.#checker = checker;
    this.#fields = fields;
  }

  /** Checks a text with the values of its variables, as `QueryText.check` does. */
  async check(method: GraphMethodName, text: string, variables: unknown): Promise<CheckedDocument> {
    const document = await this.#checker.check(toOperationKind(method), text, hideBytes(variables));
    return { ...document, problems: this.#fields.addProblems(method, document) };
  }

  describe(method: GraphMethodName): QueryText {
    return {
      argument: "query",
      variables: "variables",
      check: async (text, variables) => {
        const document = await this.check(method, text, variables);
        const { problems, output } = document;
        return {
          problems,
          parts: listPartNames(method, document),
          ...(output !== undefined && problems.length === 0 && { output }),
        };
      },
    };
  }
}
