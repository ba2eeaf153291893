import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";

import { countSpaces, escapeInvisible } from "../../../../shared/visible-text.ts";
import type { ApprovalSummary } from "../../run-messages.ts";
import { request } from "../api.ts";
import { formatLink } from "../router.ts";
import { showError, showToast } from "../state/toasts.ts";
import { StatusBadge } from "./status-badge.tsx";
import { Text } from "./text.tsx";
import { Time } from "./time.tsx";

type AnswerScope = ApprovalSummary["scopes"][number];

const SCOPE_TEXTS: Readonly<Record<AnswerScope, string>> = {
  once: "this call",
  run: "this method for the rest of the run",
  plan: "all calls listed with their arguments",
  always: "this method for 30 days",
};

export const APPROVAL_TONES = {
  pending: "busy",
  approved: "ok",
  denied: "bad",
  expired: "off",
  cancelled: "off",
  orphaned: "off",
} as const satisfies Record<ApprovalSummary["state"], Parameters<typeof StatusBadge>[0]["tone"]>;

/** Sends an answer. An error, such as that another person was first, is shown with its sentence. */
export async function answerApproval(
  { id, path }: ApprovalSummary,
  answer: "approve" | "deny",
  scope: AnswerScope = "once",
) {
  try {
    await request(`/approvals/${encodeURIComponent(id)}`, { method: "POST", body: { answer, for: scope } });
    showToast({ tone: "ok", text: `${answer === "approve" ? "Approved" : "Denied"}: ${path}` });
  } catch (thrown) {
    showError(thrown);
  }
}

interface ApprovalCardProps {
  readonly approval: ApprovalSummary;
  /** False for a reader who may not answer. */
  readonly canAnswer: boolean;
  /** True for the card that the keys answer; it has the focus. */
  readonly isActive?: boolean;
  /** Is called after an answer. */
  readonly onAnswered?: (() => void) | undefined;
  /** Is called when the reader chooses the calls that a yes covers. */
  readonly onScope?: ((scope: AnswerScope) => void) | undefined;
}

/** A question whether a call may be made: caller, method, exact arguments, program, provenance and expiry. */
export function ApprovalCard({ approval, canAnswer, isActive = false, onAnswered, onScope }: ApprovalCardProps) {
  const { path, caller, runId, state, description, provenance, plan } = approval;
  const id = useId();
  const card = useRef<HTMLElement>(null);
  useEffect(() => {
    if (isActive) card.current?.focus();
  }, [isActive]);
  return (
    <article
      ref={card}
      class={isActive ? "card approval approval-active" : "card approval"}
      aria-labelledby={id}
      aria-current={isActive ? "true" : undefined}
      tabIndex={-1}
    >
      <header class="approval-head">
        <h2 id={id}>
          <Text value={path} limit={200} />
        </h2>
        <Marks approval={approval} />
      </header>
      <p class="muted">
        <Text value={caller} limit={100} /> asks in{" "}
        <a href={formatLink(["runs", runId])} aria-label={`run ${runId}`}>
          run {runId.slice(0, 8)}
        </a>
        . <Expiry approval={approval} />
      </p>
      <Arguments value={approval.arguments} />
      {description !== "" && (
        <p class="muted">
          <Text value={description} limit={300} />
        </p>
      )}
      {provenance.length > 0 && <Provenance sentences={provenance} />}
      {plan.length > 0 && <PlanDetails plan={plan} />}
      {state === "pending" && canAnswer && <Answers approval={approval} onAnswered={onAnswered} onScope={onScope} />}
      {state === "pending" && !canAnswer && <p class="muted">An administrator can answer this.</p>}
    </article>
  );
}

function Marks({ approval: { marks, approver, state, answeredBy } }: { readonly approval: ApprovalSummary }) {
  return (
    <span class="approval-marks">
      {marks.map((mark) => (
        <StatusBadge key={mark} tone={mark === "destructive" ? "bad" : "off"} label={mark} />
      ))}
      {approver === "admin" && <StatusBadge tone="warn" label="needs an administrator" />}
      {state !== "pending" && (
        <StatusBadge tone={APPROVAL_TONES[state]} label={answeredBy === null ? state : `${state} by ${answeredBy}`} />
      )}
    </span>
  );
}

const MINUTE_MS = 60_000;

/** The minutes that are left, counted down. */
function Expiry({ approval: { state, expires, answeredAt } }: { readonly approval: ApprovalSummary }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (state !== "pending") return undefined;
    const timer = setInterval(() => setNow(Date.now()), MINUTE_MS / 4);
    return () => clearInterval(timer);
  }, [state]);
  if (state !== "pending") return answeredAt === null ? null : <Time at={answeredAt} />;
  const minutes = Math.max(0, Math.ceil((expires - now) / MINUTE_MS));
  return (
    <>
      Expires in {minutes} min, at <Time at={expires} />
    </>
  );
}

const MAX_ARGUMENT_UNITS = 4_000;

/** Invisible characters are escapes, so that no argument imitates the text around it. A text stands for arguments that were cut. */
function Arguments({ value }: { readonly value: unknown }) {
  const json = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  const visible = json
    .split("\n")
    .map((line) => countSpaces(escapeInvisible(line)))
    .join("\n");
  return (
    <>
      <pre class="code approval-arguments" tabIndex={0} aria-label="Arguments">
        <Text value={visible} limit={MAX_ARGUMENT_UNITS} />
      </pre>
      {typeof value === "string" && (
        <p class="approval-warning">
          Only the beginning of the arguments is stored. Approve only if you know the rest.
        </p>
      )}
    </>
  );
}

function Provenance({ sentences }: { readonly sentences: readonly string[] }) {
  return (
    <ul class="approval-warning">
      {sentences.map((sentence) => (
        <li key={sentence}>
          <Text value={escapeInvisible(sentence)} limit={400} />
        </li>
      ))}
    </ul>
  );
}

function PlanDetails({ plan }: Pick<ApprovalSummary, "plan">) {
  return (
    <details class="approval-plan" open={plan.length <= 5}>
      <summary>{plan.length === 1 ? "The program has 1 call" : `The program has ${plan.length} calls`}</summary>
      <ol>
        {plan.map(({ line, text, inLoop, conditional }, at) => (
          <li key={at}>
            <span class="muted">line {line}</span>{" "}
            <code>
              <Text value={countSpaces(text)} limit={400} />
            </code>
            {inLoop && <Note>in a loop</Note>}
            {conditional && <Note>under a condition</Note>}
          </li>
        ))}
      </ol>
    </details>
  );
}

function Note({ children }: { readonly children: ComponentChildren }) {
  return <span class="muted"> ({children})</span>;
}

function Answers({ approval, onAnswered, onScope }: Pick<ApprovalCardProps, "approval" | "onAnswered" | "onScope">) {
  const [scope, setScope] = useState<AnswerScope>("once");
  const [isBusy, setBusy] = useState(false);
  const answer = async (word: "approve" | "deny"): Promise<void> => {
    setBusy(true);
    await answerApproval(approval, word, scope);
    setBusy(false);
    onAnswered?.();
  };
  return (
    <div class="approval-answers">
      <button type="button" class="button button-primary" disabled={isBusy} onClick={() => void answer("approve")}>
        Approve
      </button>
      <button type="button" class="button" disabled={isBusy} onClick={() => void answer("deny")}>
        Deny
      </button>
      {approval.scopes.length > 1 && (
        <label class="approval-scope">
          <span class="muted">A yes covers</span>
          <select
            value={scope}
            onChange={({ currentTarget: { value } }) => {
              setScope(value as AnswerScope);
              onScope?.(value as AnswerScope);
            }}
          >
            {approval.scopes.map((each) => (
              <option key={each} value={each}>
                {SCOPE_TEXTS[each]}
              </option>
            ))}
          </select>
        </label>
      )}
    </div>
  );
}
