import type { JsonSchema } from "../../../model/json.ts";
import {
  type MethodDefinition,
  type MethodExample,
  type MethodMetadata,
  type QueryText,
  RESPONSE_ARGUMENT,
  type ResponseForms,
} from "../../../model/skill.ts";
import type { OperationRow } from "../catalog-file.ts";
import { describeEffect } from "../effects.ts";
import type { SourceConfig } from "../source-config.ts";
import { WHOLE, WHOLE_OR_PAGE } from "../source-operation.ts";
import { formatExampleCall } from "./example-call.ts";
import type { GraphField } from "./graph-catalog.ts";
import type { GraphMethodName } from "./root-fields.ts";

/** The parts that the definitions of a source share. */
export interface GraphReader {
  readonly config: SourceConfig;
  readonly read: (row: OperationRow) => GraphField;
}

interface GraphMethodOptions {
  /** Names the API in a sentence. */
  readonly title: string;
  /** The root fields that a text may contain. */
  readonly rows: readonly OperationRow[];
  readonly getMetadata: (row: OperationRow) => Partial<MethodMetadata>;
  readonly queryText: QueryText;
  readonly account: string | undefined;
  readonly source: GraphReader;
}

/** `query` or `mutate`. Its fields are not private, because a copy of a definition has the fields and the class. */
export class GraphMethod implements MethodDefinition {
  readonly name: GraphMethodName;
  readonly description: string;
  readonly input: JsonSchema;
  readonly response: ResponseForms;
  readonly metadata: Partial<MethodMetadata>;
  readonly queryText: QueryText;
  readonly recognizesRepeats?: true;
  readonly accounts?: readonly string[];
  readonly effectReason: string;
  readonly first: OperationRow | undefined;
  readonly source: GraphReader;

  constructor(name: GraphMethodName, { title, rows, getMetadata, queryText, account, source }: GraphMethodOptions) {
    const { input, response, describe } = FORMS[name];
    this.name = name;
    this.description = describe(title);
    this.input = input;
    this.response = response;
    this.metadata = combineMetadata(rows.map(getMetadata));
    this.queryText = queryText;
    if (source.config.idempotencyHeader !== undefined) this.recognizesRepeats = true;
    if (account !== undefined) this.accounts = [account];
    this.effectReason = `A call has the effects of the root fields in its text, and this method those of all its root fields together; sources.${source.config.name}.effects can say something else`;
    this.first = rows[0];
    this.source = source;
  }

  get examples(): readonly MethodExample[] {
    return this.first === undefined ? [] : [createExample(this.first, this.source)];
  }
}

/** A root field, whose schema is in a file. */
export class GraphPart implements MethodDefinition {
  readonly name: string;
  readonly partOf: GraphMethodName;
  readonly description: string;
  readonly metadata: Partial<MethodMetadata>;
  readonly argumentNames: readonly string[];
  readonly row: OperationRow;
  readonly source: GraphReader;

  constructor(
    name: string,
    row: OperationRow,
    { metadata, source }: { readonly metadata: Partial<MethodMetadata>; readonly source: GraphReader },
  ) {
    this.name = name;
    this.partOf = row.verb === "mutation" ? "mutate" : "query";
    this.description = row.summary;
    this.metadata = metadata;
    this.argumentNames = row.argumentNames;
    this.row = row;
    this.source = source;
  }

  get input(): JsonSchema {
    return this.source.read(this.row).input;
  }

  get signature(): string {
    return this.source.read(this.row).signature;
  }

  get examples(): readonly MethodExample[] {
    return [createExample(this.row, this.source)];
  }

  get effectReason(): string {
    return describeEffect(this.row, this.source.config);
  }
}

function createExample(row: OperationRow, { config, read }: GraphReader): MethodExample {
  return { code: formatExampleCall(config.skill, row, read(row).example) };
}

/** A text that is known only at run time may contain any root field. */
function combineMetadata(all: readonly Partial<MethodMetadata>[]): Partial<MethodMetadata> {
  return {
    readOnly: all.every(({ readOnly }) => readOnly === true),
    idempotent: all.every(({ idempotent }) => idempotent === true),
    destructive: all.some(({ destructive }) => destructive === true),
    openWorld: true,
  };
}

interface GraphForm {
  readonly input: JsonSchema;
  readonly response: ResponseForms;
  readonly describe: (title: string) => string;
}

const LITERAL =
  "Write the text as a literal, and values as variables: the program is refused before it runs if the text has a mistake";

const FORMS: Readonly<Record<GraphMethodName, GraphForm>> = {
  query: {
    input: createInput("query ($id: ID!) { … }", WHOLE_OR_PAGE),
    response: { items: [] },
    describe: (title) =>
      `Reads from ${title} by one GraphQL query, and returns its data. Search finds its root fields (query:name), with an example of each. ${LITERAL}`,
  },
  mutate: {
    input: createInput("mutation ($input: …!) { … }", WHOLE),
    response: {},
    describe: (title) =>
      `Changes something in ${title} by one GraphQL mutation, and returns its data. Search finds its root fields (mutate:name), with an example of each. ${LITERAL}`,
  },
};

function createInput(form: string, whole: JsonSchema): JsonSchema {
  return {
    type: "object",
    properties: {
      query: { type: "string", minLength: 1, description: `The text of one operation: ${form}` },
      variables: {
        type: "object",
        description:
          "The values of its variables, by their names without $; files as Uint8Array or { filename, contentType, data }",
      },
      [RESPONSE_ARGUMENT]: whole,
    },
    required: ["query"],
    additionalProperties: false,
  };
}
