import { useRef } from "preact/hooks";

import type { ApprovalSummary } from "../../../run-messages.ts";
import { answerApproval, APPROVAL_TONES, ApprovalCard } from "../../components/approval-card.tsx";
import { Card } from "../../components/card.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { Skeleton } from "../../components/skeleton.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { Text } from "../../components/text.tsx";
import { Time } from "../../components/time.tsx";
import { formatLink, navigate } from "../../router.ts";
import { useResource } from "../../state/resource.ts";
import type { PageProps } from "../index.ts";
import { useAnswerKeys } from "./answer-keys.ts";

interface ApprovalLists {
  readonly pending: readonly ApprovalSummary[];
  readonly closed: readonly ApprovalSummary[];
}

/** Questions without an answer that have a card; the others follow when these are answered. */
const MAX_CARDS = 50;

/** The calls that wait for a yes, and the newest answers. */
export function ApprovalsPage({ info, segments: [activeId] }: PageProps) {
  const { data, error, reload } = useResource<ApprovalLists>("/approvals", { reloadOn: ["approval", "approvals"] });
  const scopes = useRef(new Map<string, ApprovalSummary["scopes"][number]>());
  const lists = data.value;
  const cards = lists === undefined ? [] : listCards(lists, activeId);
  const active = cards.find(({ id }) => id === activeId);

  const open = (id: string | undefined): void =>
    navigate(formatLink(id === undefined ? ["approvals"] : ["approvals", id]), { replace: true });
  const move = (step: number): void => {
    const at = cards.findIndex(({ id }) => id === activeId);
    const next = at < 0 ? 0 : Math.max(0, Math.min(cards.length - 1, at + step));
    open(cards[next]?.id);
  };
  const leave = (id: string): void => {
    const at = cards.findIndex((card) => card.id === id);
    if (id === activeId) open((cards[at + 1] ?? cards[at - 1])?.id);
    reload();
  };
  useAnswerKeys({
    j: () => move(1),
    k: () => move(-1),
    y: () => void answerActive("approve"),
    n: () => void answerActive("deny"),
  });
  async function answerActive(answer: "approve" | "deny"): Promise<void> {
    if (active?.state !== "pending" || info.admin !== "write") return;
    await answerApproval(active, answer, scopes.current.get(active.id));
    leave(active.id);
  }
  if (error.value !== undefined) return <ErrorNotice error={error.value} onRetry={reload} />;
  if (lists === undefined) return <Skeleton lines={8} />;
  return (
    <>
      {cards.length === 0 ? <NothingWaits /> : <KeyHelp count={lists.pending.length} />}
      {cards.map((approval) => (
        <ApprovalCard
          key={approval.id}
          approval={approval}
          canAnswer={info.admin === "write"}
          isActive={approval.id === activeId}
          onAnswered={() => leave(approval.id)}
          onScope={(scope) => scopes.current.set(approval.id, scope)}
        />
      ))}
      {lists.closed.length > 0 && <Answered approvals={lists.closed} />}
    </>
  );
}

/** The card that the address names stays when another person answers it, so that no other takes its place under a key. */
function listCards({ pending, closed }: ApprovalLists, activeId: string | undefined): readonly ApprovalSummary[] {
  const first = pending.slice(0, MAX_CARDS);
  const active = [...pending, ...closed].find(({ id }) => id === activeId);
  const all = active === undefined || first.includes(active) ? first : [...first, active];
  return all.toSorted((a, b) => a.created - b.created);
}

function KeyHelp({ count }: { readonly count: number }) {
  return (
    <p class="lead approval-help" role="status">
      {count === 1 ? "1 call waits" : `${count} calls wait`} for an answer. <kbd>J</kbd> <kbd>K</kbd> move, <kbd>Y</kbd>{" "}
      approves, <kbd>N</kbd> denies.
    </p>
  );
}

function NothingWaits() {
  return (
    <EmptyState icon="approvals" title="No call waits for an answer">
      A method asks before each call if its metadata or a row of the policy says so. Let destructive methods ask with
      the setting <code>approvals: {"{ destructive: ask }"}</code>.
    </EmptyState>
  );
}

function Answered({ approvals }: { readonly approvals: readonly ApprovalSummary[] }) {
  return (
    <Card title="Answered">
      <ul class="list">
        {approvals.map(({ id, path, caller, state, answeredBy, answeredAt, expires }) => (
          <li key={id} class="list-row approval-row">
            <span class="list-main">
              <a href={formatLink(["approvals", id])}>
                <Text value={path} limit={120} />
              </a>
              <span class="muted">
                <Text value={caller} limit={60} />
              </span>
            </span>
            <StatusBadge
              tone={APPROVAL_TONES[state]}
              label={answeredBy === null ? state : `${state} by ${answeredBy}`}
            />
            <Time at={answeredAt ?? expires} />
          </li>
        ))}
      </ul>
    </Card>
  );
}
