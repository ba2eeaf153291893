import { useEffect, useRef } from "preact/hooks";

import type { ApprovalScope } from "../../../../../model/approval.ts";
import type { ApprovalSummary, SessionInfo } from "../../../messages.ts";
import { AnswerBadge, answerApproval, ApprovalCard } from "../../components/approval-card.tsx";
import { Card, EmptyState } from "../../components/elements.tsx";
import { Load } from "../../components/load.tsx";
import { Text, Time } from "../../components/text.tsx";
import { formatLink, navigate } from "../../router.ts";
import type { PageProps } from "../index.ts";

interface ApprovalLists {
  readonly pending: readonly ApprovalSummary[];
  readonly closed: readonly ApprovalSummary[];
}

/** Questions without an answer that have a card; the others follow when these are answered. */
const MAX_CARDS = 50;

/** The calls that wait for a yes, and the newest answers. */
export function ApprovalsPage({ info, segments: [activeId] }: PageProps) {
  return (
    <Load<ApprovalLists> path="/approvals" reloadOn={["approval", "approvals"]}>
      {(lists, reload) => <Questions {...{ info, activeId, lists, reload }} />}
    </Load>
  );
}

interface QuestionsProps {
  readonly info: SessionInfo;
  readonly activeId: string | undefined;
  readonly lists: ApprovalLists;
  readonly reload: () => void;
}

function Questions({ info, activeId, lists, reload }: QuestionsProps) {
  const scopes = useRef(new Map<string, ApprovalScope>());
  const cards = listCards(lists, activeId);
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
  const answerActive = async (answer: "approve" | "deny"): Promise<void> => {
    if (active?.state !== "pending" || !info.admin.includes("AnswerApprovals")) return;
    await answerApproval(active, answer, scopes.current.get(active.id));
    leave(active.id);
  };
  useAnswerKeys({
    j: () => move(1),
    k: () => move(-1),
    y: () => void answerActive("approve"),
    n: () => void answerActive("deny"),
  });
  return (
    <>
      {cards.length === 0 ? <NothingWaits /> : <KeyHelp count={lists.pending.length} />}
      {cards.map((approval) => (
        <ApprovalCard
          key={approval.id}
          approval={approval}
          canAnswer={info.admin.includes("AnswerApprovals")}
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
    <p class="muted" role="status">
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
        {approvals.map((approval) => (
          <li key={approval.id} class="list-row">
            <span class="list-main">
              <Text href={formatLink(["approvals", approval.id])} value={approval.path} limit={120} />
              <Text in="span" class="muted" value={approval.caller} limit={60} />
            </span>
            <AnswerBadge approval={approval} />
            <Time at={approval.answeredAt ?? approval.expires} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** Calls a function at a letter that is typed outside of fields and dialogs. */
function useAnswerKeys(keys: Readonly<Record<string, () => void>>): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      const { key, ctrlKey, metaKey, altKey, repeat, target } = event;
      if (ctrlKey || metaKey || altKey || repeat || isField(target)) return;
      const run = Object.hasOwn(latest.current, key.toLowerCase()) ? latest.current[key.toLowerCase()] : undefined;
      if (run === undefined || document.querySelector("dialog[open]") !== null) return;
      event.preventDefault();
      run();
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);
}

function isField(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("input, textarea, select, [contenteditable='true']") !== null;
}
