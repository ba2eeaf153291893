/** The stages of a run at which an error can occur, each with its heading in `docs/errors.md`. */
export const ERROR_STAGES = {
  check: "Programs that the gatekeeper refuses before anything runs",
  call: "Calls that the router refuses",
  run: "Errors that end a run",
  host: "Errors of the host: thrown, never an outcome",
} as const;

/**
 * Every error of Skillgate: a code that never changes, what is wrong, and what the reader (usually a model) should do
 * next. `docs/errors.md` is generated from this table.
 */
export const ERRORS = {
  SYNTAX: {
    stage: "check",
    says: "Cannot parse the program",
    fix: "Correct the mistake and send one JavaScript program",
  },
  SOURCE_LIMIT: {
    stage: "check",
    says: "Program size limit exceeded",
    fix: "Send a shorter program; read large data through a method",
  },
  DEPTH_LIMIT: {
    stage: "check",
    says: "Program nesting limit exceeded",
    fix: "Use variables and loops instead of deep nesting",
  },
  CHARACTER_FORBIDDEN: {
    stage: "check",
    says: "The program has an invisible or control character",
    fix: "Remove it, or write it as \\u escape inside a string",
  },
  NODE_FORBIDDEN: { stage: "check", says: "Cannot use this syntax", fix: "Use the plain form given in the message" },
  GLOBAL_FORBIDDEN: { stage: "check", says: "Cannot use this global", fix: "Call a method of device instead" },
  GLOBAL_UNKNOWN: { stage: "check", says: "Cannot find this name", fix: "Declare it, or call a method of device" },
  MODULE_FORBIDDEN: {
    stage: "check",
    says: "Cannot load modules",
    fix: "Everything is on device: call await device.Skill.method(…)",
  },
  CODE_FORBIDDEN: { stage: "check", says: "Cannot make code from text", fix: "Write the code itself in the program" },
  DEVICE_DYNAMIC: {
    stage: "check",
    says: "Cannot use device except as device.Skill.method(…)",
    fix: "Write the skill and the method as literal names",
  },
  DEVICE_READONLY: { stage: "check", says: "Cannot change device", fix: "Keep your own values in your own variables" },
  DEVICE_UNKNOWN: { stage: "check", says: "Unknown device", fix: "Use one of the devices that are connected" },
  SKILL_UNKNOWN: { stage: "check", says: "Unknown skill", fix: "Use one of the names that exist" },
  METHOD_UNKNOWN: { stage: "check", says: "Unknown method", fix: "Use one of the methods that the skill has" },
  METHOD_HELD: {
    stage: "check",
    says: "Cannot call a method whose definition is not accepted",
    fix: "Ask the owner to look at what has changed, and to accept it as the message says",
  },
  METHOD_REMOVED: {
    stage: "check",
    says: "Cannot call a method that its provider does not have any more",
    fix: "Use another method of the skill",
  },
  MEMBER_UNKNOWN: {
    stage: "check",
    says: "Cannot find this member of a result",
    fix: "Use one of the members that the result has",
  },
  ARGUMENTS_INVALID: {
    stage: "check",
    says: "Cannot call a method with these arguments",
    fix: "Follow the signature in the message",
  },
  QUERY_INVALID: {
    stage: "check",
    says: "Cannot send this query",
    fix: "Correct the mistake in the text of the query; describe shows the types of the API",
  },

  VALIDATION_TIMEOUT: {
    stage: "call",
    says: "Argument validation timed out",
    fix: "Pass less in one call, or raise timeouts.validationMs in the settings",
  },
  QUERY_UNCHECKED: {
    stage: "call",
    says: "Cannot check the query",
    fix: "Send a shorter query, or the same one again in a moment",
  },
  NODE_GONE: {
    stage: "call",
    says: "Cannot reach the device",
    fix: "Use another device, or call again when it is back",
  },
  NODES_FAILED: {
    stage: "call",
    says: "No device could make the call",
    fix: "Read the reason of each device",
  },
  NODES_OFFLINE: {
    stage: "call",
    says: "Cannot reach the network of devices",
    fix: "Continue without devices, or ask the owner to start the NATS server",
  },
  NODE_ANSWER_INVALID: {
    stage: "call",
    says: "Cannot read what a device sent",
    fix: "Ask the owner to update Skillgate on the device",
  },
  PERMISSION_MISSING: {
    stage: "call",
    says: "Cannot call a method without its permission",
    fix: "Ask the owner for the permission that the message names",
  },
  POLICY_DENIED: {
    stage: "call",
    says: "Cannot call a method that the policy denies",
    fix: "Continue without this method, or ask the owner to change the policy",
  },
  APPROVAL_MISSING: {
    stage: "call",
    says: "Cannot call a method without an approval",
    fix: "Ask the user to approve exactly this call",
  },
  APPROVAL_EXPIRED: {
    stage: "call",
    says: "No answer to the approval request came in time",
    fix: "Continue without this call, or make it again when a person can answer",
  },
  SKILL_DISABLED: { stage: "call", says: "Cannot call a disabled skill", fix: "Ask the owner to enable it" },
  SKILL_CHANGED: {
    stage: "call",
    says: "Cannot read the file of a skill of an MCP server, which is not the file that the server has listed",
    fix: "List the skills of the server again, or get that of the file, and read what they list: await device.NameMCP.skills.list()",
  },
  SKILL_HELD: {
    stage: "call",
    says: "Cannot use a skill that is held",
    fix: "Ask the owner to look at what has changed, and then to run: skillgate trust",
  },
  SECRET_MISSING: {
    stage: "call",
    says: "Cannot call a skill without its secret",
    fix: "Ask the owner to set the variable that the message names",
  },
  ACCOUNT_MISSING: {
    stage: "call",
    says: "Cannot call a method without an account that is connected",
    fix: "Pass the command or the link of the message on to the user, and send the program again afterwards",
  },
  ACCOUNT_RECONNECT: {
    stage: "call",
    says: "The service does not accept the account any more",
    fix: "Pass the command or the link of the message on to the user, and send the program again afterwards",
  },
  ACCOUNT_SCOPES: {
    stage: "call",
    says: "The account lacks a right at the service",
    fix: "Pass the command or the link of the message on to the user, who can connect it again with more rights",
  },
  ACCOUNT_UNAVAILABLE: {
    stage: "call",
    says: "Cannot use the account now",
    fix: "Follow the message; if the service was away for a moment, send the program again later",
  },
  COOLDOWN: { stage: "call", says: "The method is on cooldown", fix: "Wait for the time given in the message" },
  RATE_LIMIT: { stage: "call", says: "Rate limit exceeded", fix: "Wait for the time given in the message" },
  CALL_TIMEOUT: {
    stage: "call",
    says: "The method timed out",
    fix: "Ask for less, or raise the timeout of the method",
  },
  CALL_FAILED: {
    stage: "call",
    says: "Cannot complete the call",
    fix: "Read the message; catch the error if the program can continue without it",
  },
  CALL_CANCELLED: {
    stage: "call",
    says: "Cannot complete a call whose run has ended",
    fix: "Await every call before the program ends",
  },
  CLIENT_UNABLE: {
    stage: "call",
    says: "Cannot ask the client",
    fix: "Continue without the answer, or connect with a client that supports the request",
  },
  DISCOVERY_TIMEOUT: {
    stage: "call",
    says: "Method discovery timed out",
    fix: "Try again, ask for less at once, or raise timeouts.discoveryMs in the settings",
  },
  INPUT_MISSING: {
    stage: "call",
    says: "The run has no input",
    fix: "Start the run with an input, or write the values into the program",
  },
  RECORD_FAILED: {
    stage: "call",
    says: "Cannot make this call while the run cannot be recorded",
    fix: "Tell the owner that the store of runs does not work; nothing was called",
  },
  METHOD_CHANGED: {
    stage: "call",
    says: "The method has changed since the run began",
    fix: "Send the program again, or the owner continues the run with: skillgate runs resume ID --accept-changes",
  },
  AUDIT_FAILED: {
    stage: "call",
    says: "Cannot make a call that cannot be recorded in the audit log",
    fix: "Ask the owner to repair the store; audit: off in settings.yaml makes calls without records",
  },
  LOCK_TIMEOUT: {
    stage: "call",
    says: "Timed out waiting for the store",
    fix: "Try again, or raise timeouts.lockMs in the settings",
  },
  SERVER_GONE: {
    stage: "call",
    says: "Cannot reach the server of this skill",
    fix: "Try again later, or continue without it",
  },

  SESSION_VALUE_MISSING: {
    stage: "call",
    says: "Cannot call a server without what it takes from the request of the caller",
    fix: "Ask the owner of the client to send the header; a run that is continued later has no headers",
  },
  SESSION_VALUE_INVALID: {
    stage: "call",
    says: "Cannot use a value of the request of the caller",
    fix: "Ask the owner of the client to send another value",
  },
  WAIT_CYCLE: {
    stage: "run",
    says: "Cannot wait for a promise that nothing can settle meanwhile",
    fix: "Write await before the call, in an async function, so that the other code can run",
  },
  CPU_LIMIT: { stage: "run", says: "CPU limit exceeded", fix: "Do less work in the program, or let a method do it" },
  WALL_LIMIT: {
    stage: "run",
    says: "Run time limit exceeded",
    fix: "Wait for fewer or faster calls, and compute less",
  },
  MEMORY_LIMIT: { stage: "run", says: "Memory limit exceeded", fix: "Keep less data at once" },
  STACK_LIMIT: { stage: "run", says: "Stack limit exceeded", fix: "Use a loop instead of recursion" },
  CALL_LIMIT: { stage: "run", says: "Call limit exceeded", fix: "Use a method that takes many items at once" },
  CALLS_IN_FLIGHT_LIMIT: { stage: "run", says: "Concurrent call limit exceeded", fix: "Await calls in smaller groups" },
  ARGUMENT_LIMIT: {
    stage: "run",
    says: "Argument size limit exceeded",
    fix: "Pass less data in one call, and a list of pairs instead of an object with more than 10,000 names",
  },
  ANSWER_LIMIT: { stage: "run", says: "Call result size limit exceeded", fix: "Ask the method for a part of the data" },
  RESULT_LIMIT: { stage: "run", says: "Result size limit exceeded", fix: "Return only what is needed" },
  RESULT_INVALID: {
    stage: "run",
    says: "Cannot return a value that JSON cannot represent",
    fix: "Return plain data: objects, arrays, strings, numbers",
  },
  NESTING_LIMIT: {
    stage: "run",
    says: "The value is nested too deeply",
    fix: "Pass and return plain data of at most 500 levels: flatten it, or take only the members that are needed",
  },
  NEVER_SETTLES: {
    stage: "run",
    says: "The program awaits a promise that can never settle",
    fix: "Resolve every promise that the program makes",
  },
  CANCELLED: {
    stage: "run",
    says: "The run was cancelled",
    fix: "Run the program again if it is still wanted",
  },
  REPLAY_DIVERGED: {
    stage: "run",
    says: "The run does not repeat what is recorded of it",
    fix: "Send the program again, after looking at the calls that it has made",
  },
  CALL_END_UNKNOWN: {
    stage: "run",
    says: "A call had begun when the process ended, and how it ended is not known",
    fix: "Find out whether it had its effect; then continue the run with again or reuse",
  },
  CONTINUE_UNSURE: {
    stage: "run",
    says: "Stopped before a call that may have been made already",
    fix: "Answer with again or reuse, as described below",
  },
  RESUME_LIMIT: {
    stage: "run",
    says: "The run was continued too often without progress",
    fix: "Ask the owner why the processes that executed it ended; then send the program again, or continue the run",
  },
  ENGINE_TRAP: { stage: "run", says: "Internal engine error", fix: "Send a simpler program" },
  THROWN: { stage: "run", says: "The program threw an error", fix: "Correct the program, or catch the error" },

  CONFIG_INVALID: {
    stage: "host",
    says: "Cannot read the configuration",
    fix: "Fix the file at the line given in the message",
  },
  PACKAGE_MISSING: {
    stage: "host",
    says: "Cannot load an optional package",
    fix: "Install it with the command in the message",
  },
  OPTION_INVALID: { stage: "host", says: "Cannot use this option", fix: "Use the form given in the message" },
  METHOD_DUPLICATE: {
    stage: "host",
    says: "Cannot register two methods with the same name",
    fix: "Choose another name, or unregister the first",
  },
  SKILL_INVALID: { stage: "host", says: "Cannot load the skill", fix: "Fix the skill's source" },
  SAVE_INVALID: {
    stage: "host",
    says: "Cannot save the run",
    fix: "Follow the message; skillgate runs show ID shows the program of a run",
  },
  AUTOMATION_INVALID: {
    stage: "host",
    says: "Cannot use the automation",
    fix: "Correct its file at the line given in the message",
  },
  AUTOMATION_UNKNOWN: {
    stage: "host",
    says: "Cannot find the automation",
    fix: "Use one of the names of: skillgate automation list",
  },
  OCCURRENCE_UNKNOWN: {
    stage: "host",
    says: "Cannot find the occurrence",
    fix: "Use one of the ids of: skillgate automation history NAME",
  },
  AUTOMATION_HELD: {
    stage: "host",
    says: "Cannot run the automation as it is",
    fix: "Look at the reason in the message; after a change, accept it with: skillgate automation accept NAME",
  },
  SERVER_FAILED: {
    stage: "host",
    says: "Cannot start the MCP server",
    fix: "Run its command in a terminal and read what it prints",
  },
  STORE_FULL: {
    stage: "host",
    says: "Cannot write to the store because its disk is full",
    fix: "Free space on the disk, or delete old records with: skillgate store vacuum",
  },
  STORE_READ_ONLY: {
    stage: "host",
    says: "Cannot write to the store because it is read-only",
    fix: "Give this user write permission, or set store.dir or store.url in settings.yaml to another place",
  },
  STORE_NEWER: {
    stage: "host",
    says: "Cannot use a store that a newer version of Skillgate has changed",
    fix: "Install the version given in the message, or set store.dir in settings.yaml to another folder",
  },
  STORE_DAMAGED: {
    stage: "host",
    says: "The file of the store is damaged",
    fix: "Start Skillgate again: it moves the file aside and creates a new one; then restore a backup with: skillgate store restore FILE",
  },
  STORE_UNAVAILABLE: {
    stage: "host",
    says: "Cannot use the store",
    fix: "Read the message; store.dir and store.url in settings.yaml say where the store is",
  },
  STORE_TIMEOUT: {
    stage: "host",
    says: "The store took too long",
    fix: "Find out what makes the database slow, or set statement_timeout in store.url",
  },
  STORE_CONFLICT: {
    stage: "host",
    says: "Cannot add a record that exists",
    fix: "Use another id",
  },
  KEY_UNKNOWN: {
    stage: "host",
    says: "Unknown key",
    fix: "Write the name or the id of a key that skillgate keys list shows",
  },
  APPROVAL_UNKNOWN: {
    stage: "host",
    says: "Unknown approval request",
    fix: "Use one of the ids that this command prints: skillgate approvals list",
  },
  APPROVAL_CLOSED: {
    stage: "host",
    says: "Cannot answer an approval request that is closed",
    fix: "Run the program again; it asks again",
  },
  APPROVAL_FORBIDDEN: {
    stage: "host",
    says: "Cannot answer an approval request for another person",
    fix: "Let an administrator answer it, with: skillgate approvals approve ID",
  },
  MODEL_MISSING: {
    stage: "host",
    says: "No model is configured",
    fix: "Write --model provider:name or agent.model in settings.yaml, and set the key of the provider, such as OPENAI_API_KEY",
  },
  MODEL_UNREACHABLE: {
    stage: "host",
    says: "Cannot reach the server of the model",
    fix: "Check its address and the network; skillgate doctor shows what is configured",
  },
  MODEL_REFUSED: {
    stage: "host",
    says: "The server of the model refuses the request",
    fix: "Read the message; check the key and the name of the model",
  },
  MODEL_BUSY: {
    stage: "host",
    says: "The server of the model is overloaded, or limits the number of requests",
    fix: "Try again later, or use another model",
  },
  MODEL_REPLY_INVALID: {
    stage: "host",
    says: "Cannot read the reply of the model",
    fix: "Try again; if it happens again, check that the address is that of a model server of this kind",
  },
  AGENT_BUSY: {
    stage: "host",
    says: "Cannot send a message while the agent works on another one",
    fix: "Wait for the event done, or cancel the first message",
  },
  RUN_HIDDEN: {
    stage: "host",
    says: "Cannot show a run of another caller that names methods which you may not see",
    fix: "Ask the owner for a key that sees the methods of the run, with --see",
  },
  RUN_NOT_FOUND: { stage: "host", says: "Unknown run", fix: "List the runs with: skillgate runs list" },
  EXECUTORS_OFFLINE: {
    stage: "host",
    says: "Cannot reach the network of executors",
    fix: "Ask the owner to start the NATS server, then send the program again",
  },
  EXECUTORS_MISSING: {
    stage: "host",
    says: "No executor can take the program",
    fix: "Ask the owner to start one with the same project, settings and store: skillgate executor",
  },
  EXECUTOR_GONE: {
    stage: "host",
    says: "The executor of the program does not exist any more",
    fix: "Find out which calls had an effect before you send the program again",
  },
  EXECUTOR_ANSWER_INVALID: {
    stage: "host",
    says: "Cannot read what an executor sent",
    fix: "Ask the owner to start executors with the same version of Skillgate",
  },
  RUN_BUSY: {
    stage: "host",
    says: "Another process executes the run",
    fix: "Wait until it has ended, or end that process; then a server continues the run within a minute",
  },
  RUN_DAMAGED: {
    stage: "host",
    says: "Cannot read the record of the run",
    fix: "Send the program again, after finding out which of its calls were made",
  },
  INPUT_INVALID: {
    stage: "host",
    says: "Cannot start a run with this input",
    fix: "Give the run an input that is JSON and matches its schema",
  },
  CONTINUE_INVALID: {
    stage: "host",
    says: "Cannot continue this run",
    fix: "Write the id and the numbers that the last failure names",
  },
  RUN_INCOMPLETE: {
    stage: "host",
    says: "Cannot continue or replay the run, because not all of it was recorded",
    fix: "Send the program again, after finding out which of its calls were made",
  },
  LOGIN_MISSING: {
    stage: "host",
    says: "Cannot use the console without a login",
    fix: "Open the link that this command prints: skillgate console; or log in with the token of the server or a key",
  },
  LOGIN_INVALID: {
    stage: "host",
    says: "Cannot log in",
    fix: "Use the token of the server or a valid key; a link is valid once, for five minutes: skillgate console prints a new one",
  },
  ADMIN_MISSING: {
    stage: "host",
    says: "Cannot do this without a permission to administer",
    fix: "Log in with the token of the server, or with a key that has the permission in the message",
  },
  REQUEST_INVALID: {
    stage: "host",
    says: "Cannot use the request",
    fix: "Correct the part that the message names",
  },
  REQUEST_FOREIGN: {
    stage: "host",
    says: "Cannot accept a request of another web page",
    fix: "Open the console at the address of the server",
  },
  PAGE_UNKNOWN: {
    stage: "host",
    says: "Unknown address",
    fix: "Open the console at the address of the server",
  },
  RUNTIME_CLOSED: { stage: "host", says: "Cannot use a closed runtime", fix: "Create a new one" },
} as const satisfies Record<
  string,
  { readonly stage: keyof typeof ERROR_STAGES; readonly says: string; readonly fix: string }
>;

export type ErrorCode = keyof typeof ERRORS;

/** The parts of the error of an MCP server or an API beside its message. */
export interface ServerError {
  /** The JSON-RPC code, or `HTTP_404` of an API; absent for a tool that failed. */
  readonly code?: number | string;
  /** The data of the error, or the structured content of the failed tool. */
  readonly data?: unknown;
  /** Images, audio and resources of the failed tool, as descriptors. */
  readonly content?: readonly unknown[];
  /** The request and the answer of an API. */
  readonly http?: HttpFailure;
}

/** An answer of an API that is an error. */
export interface HttpFailure {
  readonly status: number;
  readonly httpMethod: string;
  readonly path: string;
  /** Parsed, if it is JSON; long texts are cut. */
  readonly body?: unknown;
  readonly requestId?: string;
  /** Seconds after which the API takes the call. */
  readonly retryAfter?: number;
}

/** Details that the guest may read beside the message; never a path, a secret or a stack. */
export interface ErrorFacts {
  readonly skill?: string;
  readonly method?: string;
  readonly server?: string;
  readonly tool?: string;
  /** The answer of an MCP server or an API that is an error. */
  readonly serverError?: ServerError;
  /** How often the provider has made the call, if it repeats calls itself; the router repeats none of these. */
  readonly attempts?: number;
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

/** Creates an error whose message has the table's words for its code, and then the values. */
export function createError(
  code: ErrorCode,
  values: string,
  facts?: ErrorFacts,
  options?: ErrorOptions,
): SkillgateError {
  return new SkillgateError(code, sentence(code, values), facts, options);
}

/**
 * Returns an error of the store without its place, which is for the owner: a server, or a folder of this machine. Any other value
 * stays as it is.
 */
export function hidePlace(thrown: unknown): unknown {
  if (!(thrown instanceof SkillgateError) || !thrown.code.startsWith("STORE_")) return thrown;
  const facts = { suggestions: ["Tell the owner: the log of the server says what is wrong with the store"] };
  return new SkillgateError(thrown.code, `${ERRORS[thrown.code].says} (${thrown.code})`, facts, { cause: thrown });
}

/** Returns the message of a thrown value, without its stack. */
export function getMessage(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
