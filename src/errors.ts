/**
 * Every error of Skillgate: a code that never changes, what is wrong, and what the reader (usually a model) should do
 * next. `docs/errors.md` is generated from this table.
 */
export const ERRORS = {
  // Snippets that the gatekeeper refuses before anything runs.
  SYNTAX: { says: "Cannot parse the snippet", fix: "Correct the mistake and send one JavaScript program" },
  SOURCE_LIMIT: {
    says: "Snippet size limit exceeded",
    fix: "Send a shorter snippet; read large data through a method",
  },
  DEPTH_LIMIT: {
    says: "Snippet nesting limit exceeded",
    fix: "Use variables and loops instead of deep nesting",
  },
  CHARACTER_FORBIDDEN: {
    says: "The snippet has an invisible or control character",
    fix: "Remove it, or write it as \\u escape inside a string",
  },
  NODE_FORBIDDEN: { says: "Cannot use this syntax", fix: "Use the plain form given in the message" },
  GLOBAL_FORBIDDEN: { says: "Cannot use this global", fix: "Call a method of device instead" },
  GLOBAL_UNKNOWN: { says: "Cannot find this name", fix: "Declare it, or call a method of device" },
  MODULE_FORBIDDEN: { says: "Cannot load modules", fix: "Everything is on device: call await device.Skill.method(…)" },
  CODE_FORBIDDEN: { says: "Cannot make code from text", fix: "Write the code itself in the snippet" },
  DEVICE_DYNAMIC: {
    says: "Cannot use device except as device.Skill.method(…)",
    fix: "Write the skill and the method as literal names",
  },
  DEVICE_READONLY: { says: "Cannot change device", fix: "Keep your own values in your own variables" },
  SKILL_UNKNOWN: { says: "Unknown skill", fix: "Use one of the names that exist" },
  METHOD_UNKNOWN: { says: "Unknown method", fix: "Use one of the methods that the skill has" },
  MEMBER_UNKNOWN: { says: "Cannot find this member of a result", fix: "Use one of the members that the result has" },
  ARGUMENTS_INVALID: { says: "Cannot call a method with these arguments", fix: "Follow the signature in the message" },

  // Calls that the router refuses.
  VALIDATION_TIMEOUT: {
    says: "Argument validation timed out",
    fix: "Pass less in one call, or raise timeouts.validationMs in the settings",
  },
  PERMISSION_MISSING: { says: "Cannot call a method without its permission", fix: "Ask the owner for a grant" },
  APPROVAL_MISSING: {
    says: "Cannot call a method without an approval",
    fix: "Ask the user to approve exactly this call",
  },
  SKILL_DISABLED: { says: "Cannot call a disabled skill", fix: "Ask the owner to enable it" },
  COOLDOWN: { says: "The method is on cooldown", fix: "Wait for the time given in the message" },
  RATE_LIMIT: { says: "Rate limit exceeded", fix: "Wait for the time given in the message" },
  CALL_TIMEOUT: { says: "The method timed out", fix: "Ask for less, or raise the timeout of the method" },
  CALL_FAILED: {
    says: "Cannot complete the call",
    fix: "Read the message; catch the error if the snippet can continue without it",
  },
  CALL_CANCELLED: {
    says: "Cannot complete a call whose run has ended",
    fix: "Await every call before the snippet ends",
  },
  CLIENT_UNABLE: {
    says: "Cannot ask the client",
    fix: "Continue without the answer, or connect with a client that supports the request",
  },
  DISCOVERY_TIMEOUT: {
    says: "Method discovery timed out",
    fix: "Try again, ask for less at once, or raise timeouts.discoveryMs in the settings",
  },
  LOCK_TIMEOUT: {
    says: "Timed out waiting for the store",
    fix: "Try again, or raise timeouts.lockMs in the settings",
  },
  SERVER_GONE: { says: "Cannot reach the server of this skill", fix: "Try again later, or continue without it" },

  WAIT_CYCLE: {
    says: "Cannot wait for a promise that nothing can settle meanwhile",
    fix: "Write await before the call, in an async function, so that the other code can run",
  },

  // Errors that end a run.
  CPU_LIMIT: { says: "CPU limit exceeded", fix: "Do less work in the snippet, or let a method do it" },
  WALL_LIMIT: { says: "Run time limit exceeded", fix: "Wait for fewer or faster calls, and compute less" },
  MEMORY_LIMIT: { says: "Memory limit exceeded", fix: "Keep less data at once" },
  STACK_LIMIT: { says: "Stack limit exceeded", fix: "Use a loop instead of recursion" },
  CALL_LIMIT: { says: "Call limit exceeded", fix: "Use a method that takes many items at once" },
  CALLS_IN_FLIGHT_LIMIT: { says: "Concurrent call limit exceeded", fix: "Await calls in smaller groups" },
  ARGUMENT_LIMIT: { says: "Argument size limit exceeded", fix: "Pass less data in one call" },
  ANSWER_LIMIT: { says: "Call result size limit exceeded", fix: "Ask the method for a part of the data" },
  RESULT_LIMIT: { says: "Result size limit exceeded", fix: "Return only what is needed" },
  RESULT_INVALID: {
    says: "Cannot return a value that JSON cannot represent",
    fix: "Return plain data: objects, arrays, strings, numbers",
  },
  NESTING_LIMIT: {
    says: "The value is nested too deeply",
    fix: "Pass and return plain data of at most 500 levels: flatten it, or take only the members that are needed",
  },
  NEVER_SETTLES: {
    says: "The snippet awaits a promise that can never settle",
    fix: "Resolve every promise that the snippet makes",
  },
  CANCELLED: {
    says: "The run was cancelled",
    fix: "Run the snippet again if it is still wanted",
  },
  ENGINE_TRAP: { says: "Internal engine error", fix: "Send a simpler snippet" },
  THROWN: { says: "The snippet threw an error", fix: "Correct the snippet, or catch the error" },

  // Errors of the host: thrown, never an outcome.
  CONFIG_INVALID: { says: "Cannot read the configuration", fix: "Fix the file at the line given in the message" },
  OPTION_INVALID: { says: "Cannot use this option", fix: "Use the form given in the message" },
  METHOD_DUPLICATE: {
    says: "Cannot register two methods with the same name",
    fix: "Choose another name, or unregister the first",
  },
  SKILL_INVALID: { says: "Cannot load the skill", fix: "Fix the skill's source" },
  SERVER_FAILED: { says: "Cannot start the MCP server", fix: "Run its command in a terminal and read what it prints" },
  RUNTIME_CLOSED: { says: "Cannot use a closed runtime", fix: "Create a new one" },
} as const satisfies Record<string, { readonly says: string; readonly fix: string }>;

export type ErrorCode = keyof typeof ERRORS;

/** Details that the guest may read beside the message; never a path, a secret or a stack. */
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

/** `Unknown method: MathSkill.ad (METHOD_UNKNOWN)`: the table's words, then the values. */
export function sentence(code: ErrorCode, values: string): string {
  return `${ERRORS[code].says}: ${values} (${code})`;
}

/** Returns the message of a thrown value, without its stack. */
export function getMessage(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
