import type { AnyNode, CallExpression, Identifier, MemberExpression, ObjectPattern, VariableDeclarator } from "acorn";
import type { Method, Skill } from "../../model/catalog.ts";
import { printableName } from "../../shared/source-text.ts";
import { DEVICE_METHOD_NAMES, DEVICE_NAMES, GLOBALS } from "./allowlist.ts";
import { correctKey, correctMember, correctName } from "../emit/rename.ts";
import {
  PLAIN_CALL_HINT,
  refuseCall,
  refuseChange,
  refuseDynamic,
  refuseMember,
  refuseUncalled,
} from "./device-errors.ts";
import { findDeviceParameter } from "./device-parameters.ts";
import type { CheckContext } from "../context.ts";
import { knownName } from "../ast/literals.ts";
import { DEVICE_REF, isTarget, isTest, type DeviceRef, formatRef } from "./device-reference.ts";
import { findMember, findMethod } from "./resolve-member.ts";
import { findOtherStyle } from "../suggestions.ts";
import type { Binding } from "../ast/scopes.ts";
import { literalName } from "../ast/walk.ts";

/** A place where a snippet calls a method or uses it as a value. */
export interface MethodUse {
  /** `Skill.method`, or the name of a method of `device` itself. */
  readonly path: string;
  readonly method: Method | undefined;
  /** The expression that refers to the method, or to its whole skill. */
  readonly node: AnyNode;
  /** The call, if the method is called here. */
  readonly call: CallExpression | undefined;
  readonly isWholeSkill: boolean;
}

/** The calls of methods, by their nodes. */
export type MethodCalls = ReadonlyMap<AnyNode, MethodUse>;

export interface DeviceUse {
  readonly uses: readonly MethodUse[];
  /** The paths of all methods that the program can call. */
  readonly paths: ReadonlySet<string>;
  /** Free names that refer to `device` or to a part of it. */
  readonly understood: ReadonlySet<Identifier>;
}

/**
 * Tracks `device` through the program: members with literal names, constant aliases and destructuring. Refuses all other
 * uses, so that the methods that a snippet can call are known before it runs.
 */
export function trackDevice(context: CheckContext, entryParameters: readonly Binding[]): DeviceUse {
  const tracker = new DeviceTracker(context);
  tracker.startAtFreeNames();
  for (const binding of entryParameters) tracker.alias(binding, DEVICE_REF);
  return tracker.run();
}

class DeviceTracker {
  readonly #inspection: CheckContext;
  readonly #uses: MethodUse[] = [];
  readonly #paths = new Set<string>();
  readonly #understood = new Set<Identifier>();
  readonly #wholeSkills = new Set<string>();
  /** Variables that hold `device`. */
  readonly #devices = new Set<Binding>();
  /** Checked parameters, with whether they always hold `device`. */
  readonly #handed = new Map<AnyNode, boolean>();
  readonly #todo: { readonly node: AnyNode; readonly meaning: DeviceRef }[] = [];

  constructor(context: CheckContext) {
    this.#inspection = context;
  }

  run(): DeviceUse {
    // The list grows during the loop.
    for (const { node, meaning } of this.#todo) this.#follow(node, meaning);
    return { uses: this.#uses, paths: this.#paths, understood: this.#understood };
  }

  startAtFreeNames(): void {
    const { scopes } = this.#inspection;
    const written = new Set(scopes.free.filter((name) => name.written).map(({ node }) => node.name));
    for (const { node } of scopes.free) {
      if (node.name === "device") this.#understand(node, DEVICE_REF);
      else if (!GLOBALS.has(node.name) && !written.has(node.name)) this.#startAt(node);
    }
  }

  /** Tracks all reads of a variable that is assigned once. */
  alias(binding: Binding, meaning: DeviceRef): void {
    if (meaning.kind === "device") this.#devices.add(binding);
    for (const read of binding.reads) this.#todo.push({ node: read, meaning });
  }

  /** Tracks a free name that can only mean `device`, a skill, or a method of `device`. */
  #startAt(node: Identifier): void {
    const { catalog } = this.#inspection.host;
    const kind = DEVICE_NAMES.get(node.name);
    if (kind === "always" || (kind !== undefined && this.#skillFollows(node))) return this.#startAs(node, DEVICE_REF);
    const path = node.name === "describe" ? undefined : DEVICE_METHOD_NAMES.get(node.name);
    if (path !== undefined) return this.#startAs(node, { kind: "method", path, method: undefined });
    const skill = catalog.skill(findOtherStyle(node.name, catalog) ?? node.name);
    if (skill !== undefined) this.#startAs(node, { kind: "skill", skill });
  }

  #startAs(node: Identifier, meaning: DeviceRef): void {
    correctName(node, formatRef(meaning), this.#inspection);
    this.#understand(node, meaning);
  }

  #understand(node: Identifier, meaning: DeviceRef): void {
    this.#understood.add(node);
    this.#todo.push({ node, meaning });
  }

  #skillFollows(node: AnyNode): boolean {
    const { catalog } = this.#inspection.host;
    const parent = this.#parent(node);
    const name =
      parent?.type === "MemberExpression" && parent.object === node
        ? literalName(parent.property, parent.computed)
        : undefined;
    return name !== undefined && (catalog.skill(name) ?? findOtherStyle(name, catalog)) !== undefined;
  }

  #follow(node: AnyNode, meaning: DeviceRef): void {
    const parent = this.#parent(node);
    if (parent === undefined) return;
    if (parent.type === "ChainExpression") this.#todo.push({ node: parent, meaning });
    else if (parent.type === "MemberExpression" && parent.object === node) this.#member(parent, meaning);
    else if (parent.type === "VariableDeclarator" && parent.init === node) this.#declared(node, parent, meaning);
    else if (parent.type === "CallExpression" && parent.callee === node) this.#called(node, parent, meaning);
    else if (isTarget(node, this.#inspection)) refuseChange(node, meaning, this.#inspection);
    else if (isTest(node, parent)) this.#tested(meaning);
    else this.#asValue(node, parent, meaning);
  }

  #member(member: MemberExpression, meaning: DeviceRef): void {
    const name = knownName(member.property, member.computed, this.#inspection.scopes);
    if (meaning.kind === "method") return refuseMember(meaning.path, member, name, this.#inspection);
    if (name === undefined)
      return refuseDynamic(member, { values: "a computed name", fix: PLAIN_CALL_HINT }, this.#inspection);
    if (meaning.kind === "skill" && this.#dotted(member, name, meaning.skill)) return;
    const found = findMember(name, meaning, member, this.#inspection);
    if (found === undefined) return;
    if (found.name !== name) correctMember(member, found.name, this.#inspection);
    this.#todo.push({ node: member, meaning: found.meaning });
  }

  /** Reads `device.Skill.resources.read` as the method `resources_read`, if the skill has it. */
  #dotted(member: MemberExpression, name: string, skill: Skill): boolean {
    const outer = this.#parent(member);
    if (outer?.type !== "MemberExpression" || outer.object !== member || outer.computed || member.computed)
      return false;
    const { catalog } = this.#inspection.host;
    const joined = `${name}_${literalName(outer.property, false)}`;
    const isMeant = catalog.method(`${skill.name}.${name}`) === undefined && catalog.method(`${skill.name}.${joined}`);
    if (!isMeant) return false;
    const found = findMethod(joined, skill, outer.property, this.#inspection);
    if (found === undefined) return true;
    this.#inspection.report.replace({ start: member.property.start, end: outer.property.end }, joined);
    this.#todo.push({ node: outer, meaning: found.meaning });
    return true;
  }

  #declared(node: AnyNode, { id }: VariableDeclarator, meaning: DeviceRef): void {
    if (id.type === "Identifier") return this.#aliased(node, id, meaning);
    if (id.type === "ObjectPattern" && meaning.kind !== "method") return this.#destructured(id, meaning);
    refuseDynamic(id, { values: "a pattern", fix: PLAIN_CALL_HINT }, this.#inspection);
  }

  #aliased(node: AnyNode, id: Identifier, meaning: DeviceRef): void {
    const binding = this.#inspection.scopes.findBinding(id);
    const isConstant = binding !== undefined && binding.writes.length === 0 && binding.declared.length === 1;
    if (isConstant) return this.alias(binding, meaning);
    const name = printableName(id.name);
    refuseDynamic(
      node,
      { values: `the variable ${name} is not constant`, fix: `Write const ${name} = ${formatRef(meaning)}` },
      this.#inspection,
    );
  }

  #destructured(pattern: ObjectPattern, meaning: Exclude<DeviceRef, { readonly kind: "method" }>): void {
    for (const property of pattern.properties) {
      const { scopes } = this.#inspection;
      const name = property.type === "Property" ? knownName(property.key, property.computed, scopes) : undefined;
      if (property.type === "RestElement" || name === undefined) {
        refuseDynamic(property, { values: "a pattern without literal names", fix: PLAIN_CALL_HINT }, this.#inspection);
        continue;
      }
      const found = findMember(name, meaning, property.key, this.#inspection);
      if (found === undefined) continue;
      if (found.name !== name) correctKey(property, found.name, this.#inspection);
      const { value } = property;
      if (value.type === "Identifier") this.#aliased(value, value, found.meaning);
      else if (value.type === "ObjectPattern" && found.meaning.kind !== "method")
        this.#destructured(value, found.meaning);
      else refuseDynamic(value, { values: "a pattern with a default", fix: PLAIN_CALL_HINT }, this.#inspection);
    }
  }

  #called(node: AnyNode, call: CallExpression, meaning: DeviceRef): void {
    if (meaning.kind !== "method") return refuseCall(call, meaning, this.#inspection);
    this.#paths.add(meaning.path);
    this.#uses.push({ path: meaning.path, method: meaning.method, node, call, isWholeSkill: false });
  }

  /** A test for a method or skill is allowed; it makes the tested methods available to the program. */
  #tested(meaning: DeviceRef): void {
    if (meaning.kind === "method") this.#paths.add(meaning.path);
    else if (meaning.kind === "skill") this.#addWholeSkill(meaning.skill);
  }

  #asValue(node: AnyNode, parent: AnyNode, meaning: DeviceRef): void {
    if (meaning.kind === "device") {
      if (this.#handedOver(node)) return;
      const fix = `${PLAIN_CALL_HINT}; to find one, call await device.search_skills("…")`;
      return refuseDynamic(node, { values: "device as a value", fix }, this.#inspection);
    }
    if (parent.type === "AssignmentExpression" && parent.left.type !== "MemberExpression")
      return refuseDynamic(
        node,
        { values: "a variable that is not constant", fix: `Write const name = ${formatRef(meaning)}` },
        this.#inspection,
      );
    if (meaning.kind === "skill") return this.#skillAsValue(node, meaning.skill);
    if (refuseUncalled(node, parent, meaning, this.#inspection)) return;
    this.#paths.add(meaning.path);
    this.#uses.push({ path: meaning.path, method: meaning.method, node, call: undefined, isWholeSkill: false });
  }

  /** True if `device` is passed to a local function that always receives it; tracks the parameter then. */
  #handedOver(node: AnyNode): boolean {
    const receiver = findDeviceParameter(node, this.#devices, this.#inspection);
    const parameter = receiver?.parameter;
    if (receiver === undefined || (parameter?.type !== "Identifier" && parameter?.type !== "ObjectPattern"))
      return false;
    const known = this.#handed.get(parameter);
    if (known !== undefined) return known;
    const isAlways = receiver.isAlwaysDevice();
    this.#handed.set(parameter, isAlways);
    if (!isAlways) return false;
    if (parameter.type === "Identifier") this.#aliased(node, parameter, DEVICE_REF);
    else this.#destructured(parameter, DEVICE_REF);
    return true;
  }

  /** Allows a skill as a value only if the caller may call all its methods: any of them may be called. */
  #skillAsValue(node: AnyNode, skill: Skill): void {
    const { mayCall } = this.#inspection.host;
    if (skill.methods.some(({ path }) => !mayCall(path))) {
      const fix = `Write device.${skill.name}.method(…) with the name of the method`;
      return refuseDynamic(node, { values: `${skill.name} as a value`, fix }, this.#inspection);
    }
    if (this.#wholeSkills.has(skill.name)) return;
    this.#addWholeSkill(skill);
    for (const method of skill.methods)
      this.#uses.push({ path: method.path, method, node, call: undefined, isWholeSkill: true });
  }

  #addWholeSkill(skill: Skill): void {
    this.#wholeSkills.add(skill.name);
    for (const { path } of skill.methods) if (this.#inspection.host.mayCall(path)) this.#paths.add(path);
  }

  #parent(node: AnyNode): AnyNode | undefined {
    return this.#inspection.scopes.parents.get(node);
  }
}
