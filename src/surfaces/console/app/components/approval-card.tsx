import { useEffect, useId, useRef, useState } from "preact/hooks";

import type { ApprovalScope } from "../../../../model/approval.ts";
import { countSpaces, escapeInvisible } from "../../../../shared/visible-text.ts";
import type { ApprovalSummary } from "../../program-messages.ts";
import { request } from "../api.ts";
import { formatLink } from "../router.ts";
import { showError, showToast } from "../state/toasts.ts";
import { Button, StatusBadge, TextList } from "./elements.tsx";
import { Field } from "./form.tsx";
import { Code, countNoun, Text, Time } from "./text.tsx";

const SCOPE_TEXTS: Readonly<Record<ApprovalScope, string>> = {
  once: "this call",
  run: "this method for the rest of the run",
  plan: "all calls listed with their arguments",
  always: "this method for 30 days",
};

/** Sends an answer. An error, such as that another person was first, is shown with its sentence. */
export async function answerApproval(
  { id, path }: Pick<ApprovalSummary, "id" | "path">,
  answer: "approve" | "deny",
  scope: ApprovalScope = "once",
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
  /** Whether it is one of several that are answered together; `undefined` for a card that is answered alone. */
  readonly isSelected?: boolean | undefined;
  readonly onSelect?: (isSelected: boolean) => void;
  /** Is called once the reader sees what it asks. */
  readonly onShown?: () => void;
  /** Is called after an answer. */
  readonly onAnswered?: (() => void) | undefined;
  /** Is called when the reader chooses the calls that a yes covers. */
  readonly onScope?: ((scope: ApprovalScope) => void) | undefined;
}

/** A question whether a call may be made: caller, method, exact arguments, program, provenance and expiry. */
export function ApprovalCard(props: ApprovalCardProps) {
  const { approval, canAnswer, isActive = false, isSelected, onSelect, onShown, onAnswered, onScope } = props;
  const { path, caller, runId, state, description, provenance, plan } = approval;
  const id = useId();
  const card = useRef<HTMLElement>(null);
  useEffect(() => {
    if (isActive) card.current?.focus();
  }, [isActive]);
  useEffect(() => {
    onShown?.();
  }, []);
  return (
    <article
      ref={card}
      class={isActive ? "card stack approval approval-active" : "card stack approval"}
      aria-labelledby={id}
      aria-current={isActive ? "true" : undefined}
      tabIndex={-1}
    >
      <header class="row">
        {isSelected !== undefined && state === "pending" && (
          <input
            type="checkbox"
            aria-label={`Select ${escapeInvisible(path)}`}
            checked={isSelected}
            onChange={({ currentTarget }) => onSelect?.(currentTarget.checked)}
          />
        )}
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
      {description !== "" && <Text in="p" class="muted" value={description} limit={300} />}
      <TextList class="warning" texts={provenance.map(escapeInvisible)} />
      {plan.length > 0 && <PlanDetails plan={plan} />}
      {state === "pending" && canAnswer && <Answers approval={approval} onAnswered={onAnswered} onScope={onScope} />}
      {state === "pending" && !canAnswer && <p class="muted">An administrator can answer this.</p>}
    </article>
  );
}

function Marks({ approval }: { readonly approval: ApprovalSummary }) {
  return (
    <span class="row">
      {approval.marks.map((mark) => (
        <StatusBadge key={mark} tone={mark === "destructive" ? "bad" : "off"} label={mark} />
      ))}
      {approval.approver === "admin" && <StatusBadge tone="warn" label="needs an administrator" />}
      {approval.state !== "pending" && <AnswerBadge approval={approval} />}
    </span>
  );
}

/** The state of a question, and the person who answered it. */
export function AnswerBadge({
  approval: { state, answeredBy },
}: {
  readonly approval: Pick<ApprovalSummary, "state" | "answeredBy">;
}) {
  return <StatusBadge state={state} label={answeredBy === null ? state : `${state} by ${answeredBy}`} />;
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

/** Invisible characters are escapes, so that no argument imitates the text around it. A text stands for arguments that were cut. */
function Arguments({ value }: { readonly value: unknown }) {
  const json = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  const visible = json
    .split("\n")
    .map((line) => countSpaces(escapeInvisible(line)))
    .join("\n");
  return (
    <>
      <Code label="Arguments" value={visible} />
      {typeof value === "string" && (
        <p class="warning">Only the beginning of the arguments is stored. Approve only if you know the rest.</p>
      )}
    </>
  );
}

function PlanDetails({ plan }: Pick<ApprovalSummary, "plan">) {
  return (
    <details open={plan.length <= 5}>
      <summary>The program has {countNoun(plan.length, "call")}</summary>
      <ol class="stack-tight">
        {plan.map(({ line, text, inLoop, conditional }, at) => (
          <li key={at}>
            <span class="muted">line {line}</span> <Text in="code" value={countSpaces(text)} limit={400} />
            <span class="muted">
              {inLoop && " (in a loop)"}
              {conditional && " (under a condition)"}
            </span>
          </li>
        ))}
      </ol>
    </details>
  );
}

function Answers({ approval, onAnswered, onScope }: Pick<ApprovalCardProps, "approval" | "onAnswered" | "onScope">) {
  const [scope, setScope] = useState<ApprovalScope>("once");
  const [isBusy, setBusy] = useState(false);
  const answer = async (word: "approve" | "deny"): Promise<void> => {
    setBusy(true);
    await answerApproval(approval, word, scope);
    setBusy(false);
    onAnswered?.();
  };
  const choose = (word: string): void => {
    setScope(word as ApprovalScope);
    onScope?.(word as ApprovalScope);
  };
  return (
    <div class="row">
      <Button label="Approve" tone="primary" disabled={isBusy} onClick={() => answer("approve")} />
      <Button label="Deny" disabled={isBusy} onClick={() => answer("deny")} />
      {approval.scopes.length > 1 && (
        <Field
          name="scope"
          label="A yes covers"
          class="field-row"
          choices={approval.scopes.map((each) => [each, SCOPE_TEXTS[each]])}
          onText={choose}
        />
      )}
    </div>
  );
}
