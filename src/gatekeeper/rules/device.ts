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
  refusePages,
  refuseUncalled,
} from "./device-errors.ts";
import { findDeviceParameter } from "./device-parameters.ts";
import type { CheckContext } from "../context.ts";
import { knownName } from "../ast/literals.ts";
import {
  DEVICE_REF,
  DEVICES_REF,
  type DeviceOwner,
  type DeviceRef,
  formatRef,
  isOwner,
  isTarget,
  isTest,
} from "./device-reference.ts";
import { findMember, findMethod, getNodeNames } from "./resolve-member.ts";
import { findOtherStyle } from "../suggestions.ts";
import type { Binding } from "../ast/scopes.ts";
import { literalName } from "../ast/walk.ts";
import { formatSkillAccess, splitRemoteSkill } from "../../shared/names/method-paths.ts";

/** A place where a program calls a method or uses it as a value. */
export interface MethodUse {
  /** `Skill.method`, `Skill.*` for a computed name, `*` for a method that the program finds, or the name of a method of `device` itself. */
  readonly path: string;
  readonly method: Method | undefined;
  /** The expression that refers to the method, or to its whole skill. */
  readonly node: AnyNode;
  /** The call, if the method is called here. */
  readonly call: CallExpression | undefined;
  readonly isWholeSkill: boolean;
  /** True for a call of `pages`, which calls the method once for each page. */
  readonly isPages?: boolean;
}

/** The calls of methods, by their nodes. */
export type MethodCalls = ReadonlyMap<AnyNode, MethodUse>;

export interface DeviceUse {
  readonly uses: readonly MethodUse[];
  /** The paths of all methods that the program can call. */
  readonly paths: ReadonlySet<string>;
  /** Free names that refer to `device` or to a part of it. */
  readonly deviceNames: ReadonlySet<Identifier>;
}

/**
 * Tracks `device` through the program: members with literal names, constant aliases and destructuring. Refuses all other
 * uses, so that the methods that a program can call are known before it runs.
 */
export function trackDevice(context: CheckContext, entryParameters: readonly Binding[]): DeviceUse {
  const tracker = new DeviceTracker(context);
  tracker.startAtFreeNames();
  for (const binding of entryParameters) tracker.alias(binding, DEVICE_REF);
  return tracker.run();
}

/** Names of methods of `device` that mean something else without it: a function of test libraries, and one of Python. */
const OTHER_MEANINGS: ReadonlySet<string> = new Set(["describe", "input"]);

/** A reference that may be used in other ways than in a call. */
type FollowedRef = Exclude<DeviceRef, { readonly kind: "pages" }>;

class DeviceTracker {
  readonly #context: CheckContext;
  readonly #uses: MethodUse[] = [];
  readonly #paths = new Set<string>();
  readonly #deviceNames = new Set<Identifier>();
  readonly #wholeSkills = new Set<string>();
  /** Variables that hold `device`. */
  readonly #devices = new Set<Binding>();
  /** Checked parameters, with whether they always hold `device`. */
  readonly #checkedParameters = new Map<AnyNode, boolean>();
  readonly #todo: { readonly node: AnyNode; readonly ref: DeviceRef }[] = [];

  constructor(context: CheckContext) {
    this.#context = context;
  }

  run(): DeviceUse {
    // The list grows during the loop.
    for (const { node, ref } of this.#todo) this.#follow(node, ref);
    return { uses: this.#uses, paths: this.#paths, deviceNames: this.#deviceNames };
  }

  startAtFreeNames(): void {
    const { scopes } = this.#context;
    const written = new Set(scopes.free.filter((name) => name.written).map(({ node }) => node.name));
    for (const { node } of scopes.free) {
      if (node.name === "device") this.#startAtName(node, DEVICE_REF);
      else if (!GLOBALS.has(node.name) && !written.has(node.name)) this.#startAt(node);
    }
  }

  /** Tracks all reads of a variable that is assigned once. */
  alias(binding: Binding, ref: DeviceRef): void {
    if (ref.kind === "device") this.#devices.add(binding);
    for (const read of binding.reads) this.#todo.push({ node: read, ref });
  }

  /** Tracks a free name that can only mean `device`, a skill, or a method of `device`. */
  #startAt(node: Identifier): void {
    const { catalog } = this.#context.host;
    if (node.name === "devices" && this.#refersToNodes(node)) return this.#startAtName(node, DEVICES_REF);
    const kind = DEVICE_NAMES.get(node.name);
    if (kind === "always" || (kind !== undefined && this.#precedesSkill(node))) return this.#startAs(node, DEVICE_REF);
    const path = OTHER_MEANINGS.has(node.name) ? undefined : DEVICE_METHOD_NAMES.get(node.name);
    const parent = this.#parent(node);
    const isCalled = parent?.type === "CallExpression" && parent.callee === node;
    if (isCalled && path !== undefined) return this.#startAs(node, { kind: "method", path, method: undefined });
    const skill = catalog.skill(findOtherStyle(node.name, catalog) ?? node.name);
    if (skill !== undefined) this.#startAs(node, { kind: "skill", skill });
  }

  #startAs(node: Identifier, ref: DeviceRef): void {
    correctName(node, formatRef(ref), this.#context);
    this.#startAtName(node, ref);
  }

  #startAtName(node: Identifier, ref: DeviceRef): void {
    this.#deviceNames.add(node);
    this.#todo.push({ node, ref });
  }

  #precedesSkill(node: AnyNode): boolean {
    const { catalog } = this.#context.host;
    const name = this.#getMemberName(node);
    return name !== undefined && (catalog.skill(name) ?? findOtherStyle(name, catalog)) !== undefined;
  }

  /** True for `devices` where there are other machines, unless the name of a local skill follows. */
  #refersToNodes(node: AnyNode): boolean {
    const nodes = getNodeNames(this.#context.host.catalog);
    if (nodes.size === 0) return false;
    return nodes.has(this.#getMemberName(node) ?? "") || !this.#precedesSkill(node);
  }

  #getMemberName(node: AnyNode): string | undefined {
    const parent = this.#parent(node);
    const isOwner = parent?.type === "MemberExpression" && parent.object === node;
    return isOwner ? literalName(parent.property, parent.computed) : undefined;
  }

  #follow(node: AnyNode, ref: DeviceRef): void {
    const parent = this.#parent(node);
    if (parent === undefined) return;
    if (parent.type === "ChainExpression") this.#todo.push({ node: parent, ref });
    else if (parent.type === "CallExpression" && parent.callee === node) this.#addCall(node, parent, ref);
    else if (ref.kind === "pages") refusePages(node, ref, this.#context);
    else if (parent.type === "MemberExpression" && parent.object === node) this.#followMember(parent, ref);
    else if (parent.type === "VariableDeclarator" && parent.init === node) this.#followDeclaration(node, parent, ref);
    else if (isTarget(node, this.#context)) refuseChange(node, ref, this.#context);
    else if (isTest(node, parent)) this.#addTest(ref);
    else this.#followValue(node, parent, ref);
  }

  #followMember(member: MemberExpression, ref: FollowedRef): void {
    const name = knownName(member.property, member.computed, this.#context.scopes);
    if (ref.kind === "method" && name === "pages" && ref.method?.response?.items !== undefined)
      return void this.#todo.push({ node: member, ref: { kind: "pages", path: ref.path, method: ref.method } });
    if (ref.kind === "method") return refuseMember(ref.path, member, name, this.#context);
    if (name === undefined && ref.kind === "skill" && this.#addComputedCall(member, ref.skill)) return;
    if (name === undefined)
      return refuseDynamic(member, { values: "a computed name", fix: PLAIN_CALL_HINT }, this.#context);
    if (ref.kind === "skill" && this.#followDottedName(member, name, ref.skill)) return;
    const found = findMember(name, ref, member, this.#context);
    if (found === undefined) return;
    if (ref.kind === "device" && found.ref.kind === "node") this.#correctOwner(member);
    if (found.name !== name) correctMember(member, found.name, this.#context);
    this.#todo.push({ node: member, ref: found.ref });
  }

  /** Reads `device.kitchen_pc` as `devices.kitchen_pc`. */
  #correctOwner({ object }: MemberExpression): void {
    if (object.type === "Identifier") return correctName(object, "devices", this.#context);
    refuseDynamic(object, { values: "another machine", fix: "Write devices.name.Skill.method(…)" }, this.#context);
  }

  /** Allows `device.Skill[name](…)`, which can call every method of the skill that the caller may call. */
  #addComputedCall(member: MemberExpression, skill: Skill): boolean {
    const call = this.#parent(member);
    if (call?.type !== "CallExpression" || call.callee !== member) return false;
    this.#addWholeSkill(skill);
    this.#uses.push({ path: `${skill.name}.*`, method: undefined, node: member, call, isWholeSkill: false });
    return true;
  }

  /** Reads `device.Skill.resources.read` as the method `resources_read`, if the skill has it. */
  #followDottedName(member: MemberExpression, name: string, skill: Skill): boolean {
    const outer = this.#parent(member);
    if (outer?.type !== "MemberExpression" || outer.object !== member || outer.computed || member.computed)
      return false;
    const { catalog, whyUnavailable } = this.#context.host;
    const joined = `${name}_${literalName(outer.property, false)}`;
    const [path, joinedPath] = [`${skill.name}.${name}`, `${skill.name}.${joined}`];
    const exists = catalog.method(joinedPath) ?? whyUnavailable?.(joinedPath);
    if (catalog.method(path) !== undefined || exists === undefined) return false;
    const found = findMethod(joined, skill, outer.property, this.#context);
    if (found === undefined) return true;
    this.#context.report.replace({ start: member.property.start, end: outer.property.end }, joined);
    this.#todo.push({ node: outer, ref: found.ref });
    return true;
  }

  #followDeclaration(node: AnyNode, { id }: VariableDeclarator, ref: FollowedRef): void {
    if (id.type === "Identifier") return this.#followAlias(node, id, ref);
    if (id.type === "ObjectPattern" && isOwner(ref)) return this.#followPattern(id, ref);
    refuseDynamic(id, { values: "a pattern", fix: PLAIN_CALL_HINT }, this.#context);
  }

  #followAlias(node: AnyNode, id: Identifier, ref: DeviceRef): void {
    const binding = this.#context.scopes.findBinding(id);
    const isConstant = binding !== undefined && binding.writes.length === 0 && binding.declared.length === 1;
    if (isConstant) return this.alias(binding, ref);
    const name = printableName(id.name);
    refuseDynamic(
      node,
      { values: `the variable ${name} is not constant`, fix: `Write const ${name} = ${formatRef(ref)}` },
      this.#context,
    );
  }

  #followPattern(pattern: ObjectPattern, ref: DeviceOwner): void {
    for (const property of pattern.properties) {
      const { scopes } = this.#context;
      const name = property.type === "Property" ? knownName(property.key, property.computed, scopes) : undefined;
      if (property.type === "RestElement" || name === undefined) {
        refuseDynamic(property, { values: "a pattern without literal names", fix: PLAIN_CALL_HINT }, this.#context);
        continue;
      }
      const found = findMember(name, ref, property.key, this.#context);
      if (found === undefined) continue;
      if (found.name !== name) correctKey(property, found.name, this.#context);
      const { value } = property;
      if (value.type === "Identifier") this.#followAlias(value, value, found.ref);
      else if (value.type === "ObjectPattern" && isOwner(found.ref)) this.#followPattern(value, found.ref);
      else refuseDynamic(value, { values: "a pattern with a default", fix: PLAIN_CALL_HINT }, this.#context);
    }
  }

  #addCall(node: AnyNode, call: CallExpression, ref: DeviceRef): void {
    if (isOwner(ref)) return refuseCall(call, ref, this.#context);
    this.#paths.add(ref.path);
    const isPages = ref.kind === "pages";
    this.#uses.push({ path: ref.path, method: ref.method, node, call, isWholeSkill: false, isPages });
  }

  /** A test for a method or skill is allowed; it makes the tested methods available to the program. */
  #addTest(ref: DeviceRef): void {
    if (ref.kind === "method") this.#paths.add(ref.path);
    else if (ref.kind === "skill") this.#addWholeSkill(ref.skill);
    else if (ref.kind === "node")
      for (const skill of this.#context.host.catalog.skills)
        if (splitRemoteSkill(skill.name)?.device === ref.name) this.#addWholeSkill(skill);
  }

  #followValue(node: AnyNode, parent: AnyNode, ref: FollowedRef): void {
    if (ref.kind === "device") {
      if (this.#followArgument(node)) return;
      const fix = `${PLAIN_CALL_HINT}; to find one, call await device.search_skills("…")`;
      return refuseDynamic(node, { values: "device as a value", fix }, this.#context);
    }
    if (parent.type === "AssignmentExpression" && parent.left.type !== "MemberExpression")
      return refuseDynamic(
        node,
        { values: "a variable that is not constant", fix: `Write const name = ${formatRef(ref)}` },
        this.#context,
      );
    if (ref.kind === "skill" && parent.type === "NewExpression" && parent.callee === node) {
      const fix = `It needs no new: write ${formatSkillAccess(ref.skill.name)}.method(…)`;
      return refuseDynamic(parent, { values: "a skill with new", fix }, this.#context);
    }
    if (ref.kind === "skill") return this.#addSkillValue(node, ref.skill);
    if (ref.kind !== "method")
      return refuseDynamic(node, { values: `${formatRef(ref)} as a value`, fix: PLAIN_CALL_HINT }, this.#context);
    if (refuseUncalled(node, parent, ref, this.#context)) return;
    this.#paths.add(ref.path);
    this.#uses.push({ path: ref.path, method: ref.method, node, call: undefined, isWholeSkill: false });
  }

  /** True if `device` is passed to a local function that always receives it; tracks the parameter then. */
  #followArgument(node: AnyNode): boolean {
    const receiver = findDeviceParameter(node, this.#devices, this.#context);
    const parameter = receiver?.parameter;
    if (receiver === undefined || (parameter?.type !== "Identifier" && parameter?.type !== "ObjectPattern"))
      return false;
    const cached = this.#checkedParameters.get(parameter);
    if (cached !== undefined) return cached;
    const isAlways = receiver.isAlwaysDevice();
    this.#checkedParameters.set(parameter, isAlways);
    if (!isAlways) return false;
    if (parameter.type === "Identifier") this.#followAlias(node, parameter, DEVICE_REF);
    else this.#followPattern(parameter, DEVICE_REF);
    return true;
  }

  /** Allows a skill as a value only if the caller may call all its methods: any of them may be called. */
  #addSkillValue(node: AnyNode, skill: Skill): void {
    const { findRefusal } = this.#context.host;
    if (skill.methods.some((method) => findRefusal(method) !== undefined)) {
      const fix = `Write ${formatSkillAccess(skill.name)}.method(…) with the name of the method`;
      return refuseDynamic(node, { values: `${skill.name} as a value`, fix }, this.#context);
    }
    if (this.#wholeSkills.has(skill.name)) return;
    this.#addWholeSkill(skill);
    for (const method of skill.methods)
      this.#uses.push({ path: method.path, method, node, call: undefined, isWholeSkill: true });
  }

  #addWholeSkill(skill: Skill): void {
    this.#wholeSkills.add(skill.name);
    for (const method of skill.methods)
      if (this.#context.host.findRefusal(method) === undefined) this.#paths.add(method.path);
  }

  #parent(node: AnyNode): AnyNode | undefined {
    return this.#context.scopes.parents.get(node);
  }
}
