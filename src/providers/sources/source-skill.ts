import type { FindAccount } from "../../model/account.ts";
import type { JsonSchema } from "../../model/json.ts";
import {
  formatRequest,
  type MethodDefinition,
  type MethodMetadata,
  type ProvidedSkill,
  type ResponseForms,
} from "../../model/skill.ts";
import { answerCall, type OperationSender } from "./answer-call.ts";
import type { CatalogFile, OperationRow, SourceCatalog } from "./catalog-file.ts";
import type { OpenCatalog } from "./openapi/open-catalog.ts";
import { type OfferedOperations, type OperationChange, whyOperationMissing } from "./operation-changes.ts";
import { decideEffect, describeEffect, toEffectMetadata } from "./effects.ts";
import { matchesOperation } from "./patterns.ts";
import { getNameOwners, getToolOverride } from "../../model/tools/override-tool.ts";
import type { ToolOverride } from "../../model/tools/tool-definition.ts";
import { findAccountName, listOwnPlaces } from "./source-accounts.ts";
import { withoutPlaces } from "./without-places.ts";
import { describeDestination, describeDocument, type SourceConfig } from "./source-config.ts";
import { type SourceOperation, toSourceOperation } from "./source-operation.ts";

interface SourceOffer extends OfferedOperations<OpenCatalog> {
  /** Returns the sender of an operation. Throws a `SkillgateError` if its server may not be used. */
  readonly getSender: (row: OperationRow) => OperationSender;
  readonly findAccount: FindAccount;
  /** Operations that are not as they were accepted. */
  readonly changes: readonly OperationChange[];
}

/** Makes a skill of a catalog. The schemas of a method are read from the catalog's file when they are needed. */
export function createSourceSkill(
  config: SourceConfig,
  { catalog, rows: allRows, changes, getSender, findAccount }: SourceOffer,
): ProvidedSkill {
  const missing = new Map(
    changes
      .filter(({ kind }) => kind === "removed" || config.changes === "hold")
      .map((change) => [change.name, change]),
  );
  const rows = new Map([...allRows].filter(([name]) => !missing.has(name)));
  const { title, description } = catalog.index;
  const readOperation = createCache(config, catalog, findAccount);
  const getMetadata = createMetadata(config);
  const source = { config, read: readOperation, findType: catalog.findType, findAccount };
  return {
    name: config.skill,
    description: [title, description].filter(Boolean).join(". "),
    source: describeDocument(config.document),
    kind: "api",
    destination: describeDestination(config, catalog.index.servers),
    whyMissing(name) {
      const change = missing.get(name);
      return change && whyOperationMissing(change, config.name);
    },
    methods: [...rows].map(
      ([name, row]) =>
        new SourceMethod(row, {
          override: { ...getToolOverride(config.methods, row.name), name },
          metadata: getMetadata(row),
          source,
        }),
    ),
    async invoke({ name, metadata }, input, context) {
      const row = rows.get(name);
      if (row === undefined) throw new Error(`${config.skill} has no method ${name}`);
      const call = { operation: readOperation(row), input, context, isRead: metadata?.readOnly === true };
      return answerCall(call, getSender(row), `${config.skill}.${name}`);
    },
  };
}

/** Returns the operations that the settings select, by the names of their methods. */
export function selectOperations<Catalog extends SourceCatalog>(
  { include, exclude, methods }: Pick<SourceConfig, "include" | "exclude" | "methods">,
  catalog: Catalog,
): OfferedOperations<Catalog> {
  const owners = getNameOwners(methods);
  const rows = new Map<string, OperationRow>();
  for (const row of catalog.index.operations) {
    const isIncluded = include?.some((pattern) => matchesOperation(pattern, row)) ?? true;
    const name = getToolOverride(methods, row.name).name ?? row.name;
    const isRenamedTo = owners.get(name) ?? row.name;
    if (isIncluded && isRenamedTo === row.name && !exclude.some((pattern) => matchesOperation(pattern, row)))
      rows.set(name, row);
  }
  return { catalog, rows };
}

/** Says which names, texts and patterns of the settings are for no operation, and which operations lose their name to another one. */
export function findSettingProblems(config: SourceConfig, { index }: CatalogFile): readonly string[] {
  const { methods } = config;
  const names = new Set(index.operations.map(({ name }) => name));
  const unknown = Object.keys(methods).filter((name) => !names.has(name));
  const renames = [...getNameOwners(methods)].filter(([name, owner]) => name !== owner && names.has(name));
  return [
    ...unknown.map((name) => `methods names ${JSON.stringify(name)}, which the document does not have`),
    ...findUnusedPatterns(config, index.operations),
    ...renames
      .filter(([name]) => getToolOverride(methods, name).name === undefined)
      .map(([name, owner]) => `${name} is left out, because methods gives its name to ${owner}`),
  ];
}

/** A pattern with a mistake would offer what it is to leave out, or say nothing of an effect. */
function findUnusedPatterns(
  { include = [], exclude, effects, pages }: SourceConfig,
  rows: readonly OperationRow[],
): readonly string[] {
  const patterns = {
    include,
    exclude,
    effects: effects.map(([pattern]) => pattern),
    pages: pages.map(([pattern]) => pattern),
  };
  return Object.entries(patterns).flatMap(([section, all]) =>
    all
      .filter((pattern) => !rows.some((row) => matchesOperation(pattern, row)))
      .map((pattern) => `${section} has ${JSON.stringify(pattern)}, which no operation of the document matches`),
  );
}

interface SourceMethodOptions {
  /** The name of the method, and texts in place of those of the document. */
  readonly override: ToolOverride & { readonly name: string };
  readonly metadata: Partial<MethodMetadata>;
  readonly source: SourceReader;
}

/** The parts that the methods of a source share. */
interface SourceReader {
  readonly config: SourceConfig;
  readonly read: (row: OperationRow) => SourceOperation;
  readonly findType: OpenCatalog["findType"];
  readonly findAccount: FindAccount;
}

/** A method whose schemas are in a file. Its fields are not private, because a copy of a definition has the fields and the class. */
class SourceMethod implements MethodDefinition {
  readonly name: string;
  readonly description: string;
  readonly metadata: Partial<MethodMetadata>;
  readonly toolFields?: Readonly<Record<string, unknown>>;
  readonly argumentNames: readonly string[];
  readonly request: OperationRow;
  readonly fillsDefaults = true;
  readonly takesLongIntegers = true;
  readonly recognizesRepeats?: true;
  readonly accounts?: readonly string[];
  readonly source: SourceReader;

  constructor(row: OperationRow, { override, metadata, source }: SourceMethodOptions) {
    const { name, title, description = row.summary } = override;
    this.name = name;
    this.description = [description, formatRequest(row)].filter(Boolean).join(". ");
    if (title !== undefined) this.toolFields = { title };
    this.metadata = metadata;
    if (source.config.idempotencyHeader !== undefined) this.recognizesRepeats = true;
    const account = findAccountName(source.config, row);
    if (account !== undefined) this.accounts = [account];
    const hidden = new Set(listOwnPlaces(source.config, row, source.findAccount).map((location) => location.name));
    this.argumentNames = row.argumentNames.filter((argument) => !hidden.has(argument));
    this.request = row;
    this.source = source;
  }

  get input(): JsonSchema {
    return this.source.read(this.request).input;
  }

  get output(): JsonSchema | undefined {
    return this.source.read(this.request).output;
  }

  get response(): ResponseForms {
    return this.source.read(this.request).response;
  }

  get effectReason(): string {
    return describeEffect(this.request, this.source.config);
  }

  get findType(): OpenCatalog["findType"] {
    return this.source.findType;
  }
}

/** The last operation that was read: its schemas are asked for one after the other. */
function createCache(
  config: SourceConfig,
  catalog: OpenCatalog,
  findAccount: FindAccount,
): (row: OperationRow) => SourceOperation {
  let last: { readonly row: OperationRow; readonly operation: SourceOperation } | undefined;
  return (row) => {
    if (last?.row !== row) {
      const setting = config.pages.findLast(([pattern]) => matchesOperation(pattern, row))?.[1];
      last = {
        row,
        operation: toSourceOperation(
          withoutPlaces(catalog.read(row), listOwnPlaces(config, row, findAccount)),
          setting,
        ),
      };
    }
    return last.operation;
  };
}

/** Returns a function for the metadata of operations. Equal metadata is one object: thousands of methods have few kinds of it. */
export function createMetadata(config: SourceConfig): (row: OperationRow) => Partial<MethodMetadata> {
  const all = new Map<string, Partial<MethodMetadata>>();
  return (row) => {
    const { verb, tags, isDeprecated } = row;
    const { effect, pattern = "" } = decideEffect(row, config);
    const key = [verb, effect, pattern, isDeprecated, ...tags].join("\n");
    const existing = all.get(key);
    if (existing !== undefined) return existing;
    const metadata = {
      ...toEffectMetadata(row, config),
      openWorld: true,
      tags,
      ...(isDeprecated && { deprecated: "its API has deprecated it" }),
    };
    all.set(key, metadata);
    return metadata;
  };
}
