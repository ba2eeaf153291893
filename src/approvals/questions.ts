import { randomBytes } from "node:crypto";

import type { ApprovalScope, PlannedCall } from "../model/approval.ts";
import type { Json } from "../model/json.ts";
import { formatOrigin } from "../model/requests/origin.ts";
import type { Method } from "../model/catalog.ts";
import type { ApprovalDetails, CallToApprove } from "../router/index.ts";
import { cutText } from "../shared/format-text.ts";
import { toJson } from "../shared/values/value-encoding.ts";
import type { NewApproval } from "../store/index.ts";
import { formatPlan, getLiteralCalls } from "./plan-texts.ts";

/** Longer arguments are stored cut; their digest is that of all of them. */
export const MAX_STORED_UNITS = 65_536;

const MAX_ORIGINS = 20;
const MAX_ORIGIN_UNITS = 300;

interface QuestionTimes {
  readonly created: number;
  readonly expires: number;
}

/** Creates the record of a question. `waiter` is the process whose call waits for the answer. */
export function createQuestion(
  request: CallToApprove,
  details: ApprovalDetails,
  {
    created,
    expires,
    waiter,
    canAlways,
  }: QuestionTimes & { readonly waiter: string | null; readonly canAlways: boolean },
): NewApproval {
  const plan = details.getPlan();
  return {
    id: createId(),
    runId: request.runId,
    callId: details.callId,
    caller: request.caller.id,
    path: request.path,
    description: details.method.description,
    marks: [...(request.accounts ?? []).map((title) => `uses the account ${title}`), ...listMarks(details.method)],
    approver: request.approval,
    arguments: boundArguments(request.input),
    digest: details.digest,
    plan: formatPlan(plan) as unknown as Json,
    provenance: [...(details.asksForEffects ? [QUOTE] : []), ...listOrigins(request)],
    scopes: listScopes(details, plan, canAlways && !details.asksForEffects),
    waiter,
    created,
    expires,
  };
}

const QUOTE = "the program stands word for word in a result that the model has read";

function listOrigins({ origins = [] }: CallToApprove): readonly string[] {
  return origins.slice(0, MAX_ORIGINS).map((origin) => cutText(formatOrigin(origin), MAX_ORIGIN_UNITS));
}

/** Ten characters without those that look alike. */
function createId(): string {
  return [...randomBytes(10)].map((byte) => ID_CHARACTERS[byte % ID_CHARACTERS.length]).join("");
}

const ID_CHARACTERS = "abcdefghijkmnpqrstuvwxyz23456789";

function listScopes(
  { approvedInRun }: ApprovalDetails,
  plan: readonly PlannedCall[],
  canAlways: boolean,
): readonly ApprovalScope[] {
  const isInRun = approvedInRun !== undefined;
  return [
    "once",
    ...(isInRun ? (["run"] as const) : []),
    ...(isInRun && getLiteralCalls(plan).length > 1 ? (["plan"] as const) : []),
    ...(canAlways ? (["always"] as const) : []),
  ];
}

function listMarks({ metadata }: Method): readonly string[] {
  const marks: readonly (readonly [isSet: boolean, text: string])[] = [
    [metadata.destructive, "destructive"],
    [metadata.openWorld, "reaches other systems"],
    [metadata.readOnly, "only reads"],
    [metadata.sensitivity !== "low", `${metadata.sensitivity} sensitivity`],
  ];
  return marks.flatMap(([isSet, text]) => (isSet ? [text] : []));
}

/** Returns the arguments as JSON; the beginning of their text if they are too long to store. */
function boundArguments(input: unknown): Json {
  const json = toJson(input);
  if (json.length <= MAX_STORED_UNITS) return JSON.parse(json) as Json;
  return `${cutText(json, MAX_STORED_UNITS)}… (${json.length} characters in all)`;
}
