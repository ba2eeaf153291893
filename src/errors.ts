/**
 * Every error of Skillgate: a code that never changes, what cannot be done, and what whoever must act next (usually a
 * model) should do. `docs/errors.md` is generated from this table.
 */
export const ERRORS = {
  // What the gatekeeper refuses, before anything runs.
  SYNTAX: { says: "Cannot parse the snippet", fix: "Send one JavaScript program without the mistake" },
  SOURCE_LIMIT: {
    says: "Cannot read a snippet of this size",
    fix: "Send a shorter snippet; read large data through a method",
  },
  DEPTH_LIMIT: {
    says: "Cannot read a snippet that nests this deeply",
    fix: "Use variables and loops instead of deep nesting",
  },
  CHARACTER_FORBIDDEN: {
    says: "Cannot read an invisible or control character",
    fix: "Remove it, or write it as \\u escape inside a string",
  },
  NODE_FORBIDDEN: { says: "Cannot use this syntax", fix: "Use the plain form that the message names" },
  GLOBAL_FORBIDDEN: { says: "Cannot use this global", fix: "Call a method of device instead" },
  GLOBAL_UNKNOWN: { says: "Cannot find this name", fix: "Declare it, or call a method of device" },
  MODULE_FORBIDDEN: { says: "Cannot load modules", fix: "Everything is on device: call await device.Skill.method(…)" },
  CODE_FORBIDDEN: { says: "Cannot make code from text", fix: "Write the code itself in the snippet" },
  DEVICE_DYNAMIC: {
    says: "Cannot use device except as device.Skill.method(…)",
    fix: "Write the skill and the method as literal names",
  },
  DEVICE_READONLY: { says: "Cannot change device", fix: "Keep your own values in your own variables" },
  SKILL_UNKNOWN: { says: "Cannot find the skill", fix: "Use one of the names that exist" },
  METHOD_UNKNOWN: { says: "Cannot find the method", fix: "Use one of the methods that the skill has" },
  MEMBER_UNKNOWN: { says: "Cannot find this member of a result", fix: "Use one of the members that the result has" },
  ARGUMENTS_INVALID: { says: "Cannot call a method with these arguments", fix: "Follow the signature in the message" },

  // What the router refuses, for one call.
  VALIDATION_TIMEOUT: {
    says: "Cannot check the arguments of a call any longer",
    fix: "Pass less in one call, or raise timeouts.validationMs in the settings",
  },
  PERMISSION_MISSING: { says: "Cannot call a method without its permission", fix: "Ask the owner for a grant" },
  APPROVAL_MISSING: {
    says: "Cannot call a method without an approval",
    fix: "Ask the user to approve exactly this call",
  },
  SKILL_DISABLED: { says: "Cannot call a disabled skill", fix: "Ask the owner to enable it" },
  COOLDOWN: { says: "Cannot call the method again yet", fix: "Wait the time that the message says" },
  RATE_LIMIT: { says: "Cannot call the method this often", fix: "Wait the time that the message says" },
  CALL_TIMEOUT: { says: "Cannot wait longer for the method", fix: "Ask for less, or raise the timeout of the method" },
  CALL_FAILED: {
    says: "Cannot complete the call",
    fix: "Read the message; catch the error if the snippet can go on without it",
  },
  CALL_CANCELLED: {
    says: "Cannot complete a call whose run has ended",
    fix: "Await every call before the snippet ends",
  },
  CLIENT_UNABLE: {
    says: "Cannot ask the client",
    fix: "Go on without the answer, or connect with a client that can give it",
  },
  DISCOVERY_TIMEOUT: {
    says: "Cannot look for methods any longer",
    fix: "Ask again, and for less at once, or raise timeouts.discoveryMs in the settings",
  },
  LOCK_TIMEOUT: {
    says: "Cannot wait longer for the store",
    fix: "Try again, or raise timeouts.lockMs in the settings",
  },
  SERVER_GONE: { says: "Cannot reach the server of this skill", fix: "Try again later, or go on without it" },

  WAIT_CYCLE: {
    says: "Cannot wait for a promise that nothing can settle meanwhile",
    fix: "Write await before the call, in an async function, so that the other code can go on",
  },

  // What ends a run.
  CPU_LIMIT: { says: "Cannot compute longer", fix: "Do less work in the snippet, or let a method do it" },
  WALL_LIMIT: { says: "Cannot run longer", fix: "Wait for fewer or faster calls, and compute less" },
  MEMORY_LIMIT: { says: "Cannot use more memory", fix: "Keep less data at once" },
  STACK_LIMIT: { says: "Cannot call functions this deeply", fix: "Use a loop instead of recursion" },
  CALL_LIMIT: { says: "Cannot make more calls in one run", fix: "Use a method that takes many items at once" },
  CALLS_IN_FLIGHT_LIMIT: { says: "Cannot have more calls under way at once", fix: "Await calls in smaller groups" },
  ARGUMENT_LIMIT: { says: "Cannot pass arguments of this size", fix: "Pass less data in one call" },
  ANSWER_LIMIT: { says: "Cannot take a call result of this size", fix: "Ask the method for a part of the data" },
  RESULT_LIMIT: { says: "Cannot return a result of this size", fix: "Return only what is needed" },
  RESULT_INVALID: {
    says: "Cannot return a value that JSON cannot hold",
    fix: "Return plain data: objects, arrays, strings, numbers",
  },
  NESTING_LIMIT: {
    says: "The value is nested too deeply",
    fix: "Pass and return plain data of at most 500 levels: flatten it, or take only the members that are needed",
  },
  NEVER_SETTLES: {
    says: "Cannot wait for something that cannot happen",
    fix: "Resolve every promise that the snippet makes",
  },
  CANCELLED: {
    says: "Cannot finish a run that was cancelled",
    fix: "Run the snippet again if it is still wanted",
  },
  ENGINE_TRAP: { says: "Cannot go on after a fault in the engine", fix: "Send a simpler snippet" },
  THROWN: { says: "The snippet threw an error", fix: "Correct the snippet, or catch the error" },

  // What is wrong on our side of the wall: thrown, never an outcome.
  CONFIG_INVALID: { says: "Cannot read the configuration", fix: "Mend the file at the line that the message names" },
  OPTION_INVALID: { says: "Cannot use this option", fix: "Use the form that the message names" },
  METHOD_DUPLICATE: {
    says: "Cannot register a second method of one name",
    fix: "Choose another name, or unregister the first",
  },
  SKILL_INVALID: { says: "Cannot load the skill", fix: "Mend the skill's source" },
  SERVER_FAILED: { says: "Cannot start the MCP server", fix: "Run its command by hand and read what it prints" },
  RUNTIME_CLOSED: { says: "Cannot use a closed runtime", fix: "Create a new one" },
} as const satisfies Record<string, { readonly says: string; readonly fix: string }>;

export type ErrorCode = keyof typeof ERRORS;

/** What may be told to the guest beside the message; never a path, a secret or a stack. */
export interface ErrorFacts {
  readonly skill?: string;
  readonly method?: string;
  readonly server?: string;
  readonly tool?: string;
  readonly [name: string]: unknown;
}

/** An error with a code of the table. Its message is safe to show to a guest and to a model. */
export class SkillgateError extends Error {
  override readonly name = "SkillgateError";
  readonly code: ErrorCode;
  readonly facts: ErrorFacts;

  constructor(code: ErrorCode, message: string, facts: ErrorFacts = {}, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.facts = facts;
  }
}

/** `Cannot find the method: MathSkill.ad (METHOD_UNKNOWN)`: the table's words, then the values at hand. */
export function sentence(code: ErrorCode, values: string): string {
  return `${ERRORS[code].says}: ${values} (${code})`;
}

/** The message of whatever was thrown, without its stack. */
export function getMessage(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
