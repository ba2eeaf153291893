import type { AnyNode, CallExpression, Identifier, MemberExpression, ObjectPattern, VariableDeclarator } from "acorn";
import type { Method, Skill } from "../model/catalog.ts";
import { shown } from "../model/frame.ts";
import { DEVICE_METHOD_NAMES, DEVICE_METHODS, DEVICE_NAMES, GLOBALS } from "./allowlist.ts";
import type { Inspection } from "./inspection.ts";
import { callForm, inOtherStyle, wordsForUnknownMethod, wordsForUnknownSkill } from "./names.ts";
import type { Binding } from "./scopes.ts";
import { byType, type ByType, literalName } from "./walk.ts";

/** A place where a snippet gets hold of a method. */
export interface MethodUse {
  /** `Skill.method`, or the name of a method that `device` itself has. */
  readonly path: string;
  readonly method: Method | undefined;
  /** The expression that stands for the method, or for its whole skill. */
  readonly node: AnyNode;
  /** The call, where the method is called right there. */
  readonly call: CallExpression | undefined;
  readonly isWholeSkill: boolean;
}

export interface DeviceUse {
  readonly uses: readonly MethodUse[];
  /** Everything that the program's `device` has to offer. */
  readonly paths: ReadonlySet<string>;
  /** Free names that stand for something on `device`. */
  readonly understood: ReadonlySet<Identifier>;
}

/** What an expression stands for. */
type Meaning =
  | { readonly kind: "device" }
  | { readonly kind: "skill"; readonly skill: Skill }
  | { readonly kind: "method"; readonly path: string; readonly method: Method | undefined };

const DEVICE: Meaning = { kind: "device" };
const PLAIN_FORM = "Write device.Skill.method(…) with literal names";

/**
 * Follows `device` through the program: members with literal names, constant aliases and destructuring. Whatever it cannot
 * follow is refused, so that what a snippet can call is known before it runs.
 */
export function followDevice(inspection: Inspection, entryParameters: readonly Binding[]): DeviceUse {
  const follower = new Follower(inspection);
  follower.startAtFreeNames();
  for (const binding of entryParameters) follower.alias(binding, DEVICE);
  return follower.run();
}

class Follower {
  readonly #inspection: Inspection;
  readonly #uses: MethodUse[] = [];
  readonly #paths = new Set<string>();
  readonly #understood = new Set<Identifier>();
  readonly #wholeSkills = new Set<string>();
  readonly #todo: { readonly node: AnyNode; readonly meaning: Meaning }[] = [];

  constructor(inspection: Inspection) {
    this.#inspection = inspection;
  }

  run(): DeviceUse {
    for (let next = this.#todo.pop(); next !== undefined; next = this.#todo.pop())
      this.#follow(next.node, next.meaning);
    return { uses: this.#uses, paths: this.#paths, understood: this.#understood };
  }

  startAtFreeNames(): void {
    const { scopes } = this.#inspection;
    const written = new Set(scopes.free.filter((name) => name.written).map(({ node }) => node.name));
    for (const { node } of scopes.free) {
      if (node.name === "device") this.#understand(node, DEVICE);
      else if (!GLOBALS.has(node.name) && !written.has(node.name)) this.#startAt(node);
    }
  }

  /** Everything that a name stands for which gets its value once. */
  alias(binding: Binding, meaning: Meaning): void {
    for (const read of binding.reads) this.#todo.push({ node: read, meaning });
  }

  /** Names that only make sense as a part of `device`. */
  #startAt(node: Identifier): void {
    const { questions, report } = this.#inspection;
    const { catalog } = questions;
    const kind = DEVICE_NAMES.get(node.name);
    if (kind === "always" || (kind !== undefined && this.#skillFollows(node))) {
      report.note(`${node.name} was read as device`);
      this.#rename(node, "device");
      this.#understand(node, DEVICE);
      return;
    }
    const path = node.name === "describe" ? undefined : DEVICE_METHOD_NAMES.get(node.name);
    const name = catalog.skill(node.name) !== undefined ? node.name : inOtherStyle(node.name, catalog);
    const skill = name === undefined ? undefined : catalog.skill(name);
    if (path !== undefined) this.#understand(node, { kind: "method", path, method: undefined });
    else if (skill !== undefined) this.#understand(node, { kind: "skill", skill });
    if (path === undefined && skill === undefined) return;
    report.note(`${node.name} was read as device.${path ?? name ?? ""}`);
    this.#rename(node, `device.${path ?? name ?? ""}`);
  }

  #understand(node: Identifier, meaning: Meaning): void {
    this.#understood.add(node);
    this.#todo.push({ node, meaning });
  }

  #skillFollows(node: AnyNode): boolean {
    const { catalog } = this.#inspection.questions;
    const parent = this.#parent(node);
    const name =
      parent?.type === "MemberExpression" && parent.object === node
        ? literalName(parent.property, parent.computed)
        : undefined;
    return name !== undefined && (catalog.skill(name) ?? inOtherStyle(name, catalog)) !== undefined;
  }

  #follow(node: AnyNode, meaning: Meaning): void {
    const parent = this.#parent(node);
    if (parent === undefined) return;
    if (parent.type === "ChainExpression") this.#todo.push({ node: parent, meaning });
    else if (parent.type === "MemberExpression" && parent.object === node) this.#member(parent, meaning);
    else if (parent.type === "VariableDeclarator" && parent.init === node) this.#declared(node, parent, meaning);
    else if (parent.type === "CallExpression" && parent.callee === node) this.#called(node, parent, meaning);
    else if (this.#isTarget(node, parent)) this.#refuseChange(node, meaning);
    else if (byType(TESTS, parent, node) === true) this.#tested(meaning);
    else this.#asValue(node, parent, meaning);
  }

  #isTarget(node: AnyNode, parent: AnyNode): boolean {
    return (
      byType(TARGETS, parent, node) ?? (parent.type === "Property" && this.#parent(parent)?.type === "ObjectPattern")
    );
  }

  #member(member: MemberExpression, meaning: Meaning): void {
    const name = literalName(member.property, member.computed);
    if (meaning.kind === "method") return this.#refuseMember(member, name, meaning.path);
    if (name === undefined) return this.#refuseDynamic(member, "a computed name", PLAIN_FORM);
    const found =
      meaning.kind === "device" ? this.#onDevice(name, member) : this.#onSkill(name, meaning.skill, member.property);
    if (found === undefined) return;
    if (found.name !== name) this.#correct(member, found.name);
    this.#todo.push({ node: member, meaning: found.meaning });
  }

  /** What `device.name` is. An unknown name is refused at once, and nothing of it is followed. */
  #onDevice(
    name: string,
    at: MemberExpression | AnyNode,
  ): { readonly name: string; readonly meaning: Meaning } | undefined {
    const { questions, report } = this.#inspection;
    const { catalog } = questions;
    const own = catalog.skill(name) === undefined ? DEVICE_METHOD_NAMES.get(name) : undefined;
    if (own !== undefined) return { name: own, meaning: { kind: "method", path: own, method: undefined } };
    const known = catalog.skill(name) === undefined ? inOtherStyle(name, catalog) : name;
    const skill = known === undefined ? undefined : catalog.skill(known);
    if (skill !== undefined) return { name: skill.name, meaning: { kind: "skill", skill } };
    const place = at.type === "MemberExpression" ? at.property : at;
    report.refuse("SKILL_UNKNOWN", place, () => wordsForUnknownSkill(name, this.#nameAfter(at), this.#inspection));
    return undefined;
  }

  #onSkill(name: string, skill: Skill, at: AnyNode): { readonly name: string; readonly meaning: Meaning } | undefined {
    const { questions, report } = this.#inspection;
    const { catalog } = questions;
    const known = catalog.method(`${skill.name}.${name}`) === undefined ? inOtherStyle(name, skill) : name;
    const method = known === undefined ? undefined : catalog.method(`${skill.name}.${known}`);
    if (method === undefined) {
      report.refuse("METHOD_UNKNOWN", at, () => wordsForUnknownMethod(name, skill.name, this.#inspection));
      return undefined;
    }
    if (!questions.mayCall(method.path)) {
      report.refuse("PERMISSION_MISSING", at, () => ({ values: method.path }));
      return undefined;
    }
    return { name: method.name, meaning: { kind: "method", path: method.path, method } };
  }

  #declared(node: AnyNode, { id }: VariableDeclarator, meaning: Meaning): void {
    if (id.type === "Identifier") return this.#aliased(node, id, meaning);
    if (id.type === "ObjectPattern" && meaning.kind !== "method") return this.#destructured(id, meaning);
    this.#refuseDynamic(id, "a pattern", PLAIN_FORM);
  }

  #aliased(node: AnyNode, id: Identifier, meaning: Meaning): void {
    const binding = this.#inspection.scopes.bindingOf(id);
    if (binding !== undefined && binding.writes.length === 0 && binding.declared.length === 1)
      return this.alias(binding, meaning);
    this.#refuseDynamic(
      node,
      `the variable ${shown(id.name)} that changes`,
      `Write const ${shown(id.name)} = ${nameOf(meaning)}`,
    );
  }

  #destructured(pattern: ObjectPattern, meaning: Exclude<Meaning, { readonly kind: "method" }>): void {
    for (const property of pattern.properties) {
      const name = property.type === "Property" ? literalName(property.key, property.computed) : undefined;
      if (property.type === "RestElement" || name === undefined) {
        this.#refuseDynamic(property, "a pattern without literal names", PLAIN_FORM);
        continue;
      }
      const found =
        meaning.kind === "device"
          ? this.#onDevice(name, property.key)
          : this.#onSkill(name, meaning.skill, property.key);
      if (found === undefined) continue;
      if (found.name !== name) this.#correctKey(property, found.name);
      const { value } = property;
      if (value.type === "Identifier") this.#aliased(value, value, found.meaning);
      else if (value.type === "ObjectPattern" && found.meaning.kind !== "method")
        this.#destructured(value, found.meaning);
      else this.#refuseDynamic(value, "a pattern with a default", PLAIN_FORM);
    }
  }

  #called(node: AnyNode, call: CallExpression, meaning: Meaning): void {
    if (meaning.kind === "method") {
      this.#paths.add(meaning.path);
      this.#uses.push({ path: meaning.path, method: meaning.method, node, call, isWholeSkill: false });
    } else if (meaning.kind === "skill") {
      const [first] = meaning.skill.methods;
      this.#refuseDynamic(
        call,
        `${meaning.skill.name} is a skill and no method`,
        first === undefined ? PLAIN_FORM : `Write ${callForm(first)}`,
      );
    } else this.#refuseDynamic(call, "device is no function", PLAIN_FORM);
  }

  /** Whether something is there may be asked; it is there if the program uses it. */
  #tested(meaning: Meaning): void {
    if (meaning.kind === "method") this.#paths.add(meaning.path);
    else if (meaning.kind === "skill") this.#addWholeSkill(meaning.skill);
  }

  #asValue(node: AnyNode, parent: AnyNode, meaning: Meaning): void {
    if (meaning.kind === "device") {
      const fix = `${PLAIN_FORM}; to find one, call await device.search_skills("…")`;
      return this.#refuseDynamic(node, "device as a value", fix);
    }
    if (parent.type === "AssignmentExpression" && parent.left.type !== "MemberExpression")
      return this.#refuseDynamic(node, "a variable that changes", `Write const name = ${nameOf(meaning)}`);
    if (meaning.kind === "skill") return this.#skillAsValue(node, meaning.skill);
    const form =
      meaning.method === undefined
        ? `device.${DEVICE_METHODS.get(meaning.path) ?? meaning.path}`
        : callForm(meaning.method);
    if (parent.type === "NewExpression" && parent.callee === node)
      return this.#refuseDynamic(parent, "a method with new", `Write ${form}`);
    if (parent.type === "TaggedTemplateExpression")
      return this.#refuseDynamic(parent, "a method as a template tag", `Write ${form}`);
    if (parent.type === "ExpressionStatement" || parent.type === "AwaitExpression") {
      return this.#refuseDynamic(node, `${meaning.path} is not called`, `Write ${form}`);
    }
    this.#paths.add(meaning.path);
    this.#uses.push({ path: meaning.path, method: meaning.method, node, call: undefined, isWholeSkill: false });
  }

  /** Any method of it may then be called. */
  #skillAsValue(node: AnyNode, skill: Skill): void {
    const { mayCall } = this.#inspection.questions;
    if (skill.methods.some(({ path }) => !mayCall(path))) {
      return this.#refuseDynamic(
        node,
        `${skill.name} as a value`,
        `Write device.${skill.name}.method(…) with the name of the method`,
      );
    }
    if (this.#wholeSkills.has(skill.name)) return;
    this.#addWholeSkill(skill);
    for (const method of skill.methods)
      this.#uses.push({ path: method.path, method, node, call: undefined, isWholeSkill: true });
  }

  #addWholeSkill(skill: Skill): void {
    this.#wholeSkills.add(skill.name);
    for (const { path } of skill.methods) if (this.#inspection.questions.mayCall(path)) this.#paths.add(path);
  }

  #refuseMember(member: MemberExpression, name: string | undefined, path: string): void {
    const form = `device.${path}(…)`;
    if (name === "call" || name === "apply" || name === "bind") {
      return this.#refuseDynamic(member.property, `${path}.${name}`, `Call it directly: ${form}`);
    }
    if (name === "then" || name === "catch" || name === "finally") {
      return this.#refuseDynamic(member.property, `${path} is not called`, `Write ${form}.${name}(…)`);
    }
    this.#refuseDynamic(member.property, `${path}.${shown(name ?? "[…]")}`, `Call it: ${form}`);
  }

  #refuseChange(node: AnyNode, meaning: Meaning): void {
    this.#inspection.report.refuse("DEVICE_READONLY", node, () => ({ values: nameOf(meaning) }));
  }

  #refuseDynamic(place: AnyNode, values: string, fix: string): void {
    this.#inspection.report.refuse("DEVICE_DYNAMIC", place, () => ({ values, fix }));
  }

  #nameAfter(at: AnyNode): string | undefined {
    const parent = at.type === "MemberExpression" ? this.#parent(at) : undefined;
    return parent?.type === "MemberExpression" && parent.object === at
      ? literalName(parent.property, parent.computed)
      : undefined;
  }

  #correct({ property, computed }: MemberExpression, name: string): void {
    this.#inspection.report.replace(property, computed ? JSON.stringify(name) : name);
    this.#noteName(literalName(property, computed) ?? "", name);
  }

  #correctKey(
    property: Extract<ObjectPattern["properties"][number], { readonly type: "Property" }>,
    name: string,
  ): void {
    const was = literalName(property.key, property.computed) ?? "";
    if (property.shorthand) this.#inspection.report.replace(property, `${name}: ${was}`);
    else this.#inspection.report.replace(property.key, property.computed ? JSON.stringify(name) : name);
    this.#noteName(was, name);
  }

  #noteName(was: string, name: string): void {
    this.#inspection.report.note(`${shown(was)} was read as ${name}`);
  }

  /** A name in `{ name }` is a key as well. */
  #rename(node: Identifier, text: string): void {
    const parent = this.#parent(node);
    const shorthand = parent?.type === "Property" && parent.shorthand;
    this.#inspection.report.replace(node, shorthand ? `${node.name}: ${text}` : text);
  }

  #parent(node: AnyNode): AnyNode | undefined {
    return this.#inspection.scopes.parents.get(node);
  }
}

function nameOf(meaning: Meaning): string {
  if (meaning.kind === "device") return "device";
  return `device.${meaning.kind === "skill" ? meaning.skill.name : meaning.path}`;
}

/** Where something is assigned to the node, or where it is deleted. */
const TARGETS: ByType<boolean> = {
  ArrayPattern: () => true,
  AssignmentExpression: ({ left }, node) => left === node,
  AssignmentPattern: ({ left }, node) => left === node,
  ForInStatement: ({ left }, node) => left === node,
  ForOfStatement: ({ left }, node) => left === node,
  RestElement: () => true,
  UnaryExpression: ({ operator }) => operator === "delete",
  UpdateExpression: () => true,
};

/** Where only matters whether the node is there. */
const TESTS: ByType<boolean> = {
  BinaryExpression: ({ operator }) => /^[!=]==?$/.test(operator),
  ConditionalExpression: ({ test }, node) => test === node,
  IfStatement: () => true,
  LogicalExpression: ({ operator, left }, node) => operator === "&&" && left === node,
  UnaryExpression: ({ operator }) => operator === "!" || operator === "typeof",
  WhileStatement: () => true,
};
