import { useEffect, useRef, useState } from "preact/hooks";

import type { ListedApproval } from "../../../../../approvals/index.ts";
import type { ApprovalScope } from "../../../../../model/approval.ts";
import type { SessionInfo } from "../../../messages.ts";
import type { ApprovalLists, ApprovalSummary } from "../../../program-messages.ts";
import { AnswerBadge, answerApproval, ApprovalCard } from "../../components/approval-card.tsx";
import { request } from "../../api.ts";
import { Button, Card, EmptyState } from "../../components/elements.tsx";
import { FilterField } from "../../components/form.tsx";
import { Load } from "../../components/load.tsx";
import { countNoun, Text, Time } from "../../components/text.tsx";
import { formatLink, navigate } from "../../router.ts";
import { notifies, switchNotifications } from "../../state/notifications.ts";
import { showError } from "../../state/toasts.ts";
import type { PageProps } from "../index.ts";

/** Questions without an answer that have a card; the others follow when these are answered. */
const MAX_CARDS = 50;

/** The calls that wait for a yes, and the newest answers. */
export function ApprovalsPage({ info, segments: [activeId], query }: PageProps) {
  const caller = query.get("caller") ?? "";
  return (
    <Load<ApprovalLists> path="/approvals" reloadOn={["approval", "approvals"]}>
      {(lists, reload) => <Questions {...{ info, activeId, caller, lists, reload }} />}
    </Load>
  );
}

interface QuestionsProps {
  readonly info: SessionInfo;
  readonly activeId: string | undefined;
  /** A part of the ids of the callers whose questions are shown. */
  readonly caller: string;
  readonly lists: ApprovalLists;
  readonly reload: () => void;
}

function Questions({ info, activeId, caller, lists: all, reload }: QuestionsProps) {
  const scopes = useRef(new Map<string, ApprovalScope>());
  const visibleIds = useRef(new Set<string>());
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const lists = filterLists(all, caller);
  const cards = listCards(lists, activeId);
  const mayAnswer = info.admin.includes("AnswerApprovals");
  const active = cards.find(({ id }) => id === activeId);

  const open = (id: string | undefined): void =>
    navigate(formatLink(id === undefined ? ["approvals"] : ["approvals", id], { caller }), { replace: true });
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
    if (active?.state !== "pending" || !mayAnswer || !visibleIds.current.has(active.id)) return;
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
      <Tools lists={all} caller={caller} />
      {cards.length === 0 ? <NothingWaits /> : <KeyHelp count={lists.pending.length} />}
      {mayAnswer && lists.pending.length > 1 && (
        <Selection cards={cards} selected={selected} onSelect={setSelected} onAnswered={reload} />
      )}
      {cards.map((listed) => (
        <Load<ApprovalSummary> key={listed.id} path={`/approvals/${encodeURIComponent(listed.id)}`}>
          {(approval) => (
            <ApprovalCard
              approval={{ ...approval, ...listed }}
              canAnswer={mayAnswer}
              isSelected={mayAnswer && lists.pending.length > 1 ? selected.has(listed.id) : undefined}
              onSelect={(isSelected) => setSelected(withMember(selected, listed.id, isSelected))}
              isActive={listed.id === activeId}
              onShown={() => visibleIds.current.add(listed.id)}
              onAnswered={() => leave(listed.id)}
              onScope={(scope) => scopes.current.set(listed.id, scope)}
            />
          )}
        </Load>
      ))}
      {lists.closed.length > 0 && <Answered approvals={lists.closed} />}
    </>
  );
}

function filterLists({ pending, closed }: ApprovalLists, caller: string): ApprovalLists {
  const isShown = (approval: ListedApproval): boolean => approval.caller.toLowerCase().includes(caller.toLowerCase());
  return { pending: pending.filter(isShown), closed: closed.filter(isShown) };
}

function withMember(set: ReadonlySet<string>, id: string, isMember: boolean): ReadonlySet<string> {
  const changed = new Set(set);
  if (isMember) changed.add(id);
  else changed.delete(id);
  return changed;
}

/** The card that the address names stays when another person answers it, so that no other takes its place under a key. */
function listCards({ pending, closed }: ApprovalLists, activeId: string | undefined): readonly ListedApproval[] {
  const first = pending.slice(0, MAX_CARDS);
  const active = [...pending, ...closed].find(({ id }) => id === activeId);
  const all = active === undefined || first.includes(active) ? first : [...first, active];
  return all.toSorted((a, b) => a.created - b.created);
}

/** The filter by caller, and the switch of notifications. */
function Tools({ lists: { pending, closed }, caller }: { readonly lists: ApprovalLists; readonly caller: string }) {
  return (
    <div class="row">
      {pending.length + closed.length > 0 && (
        <FilterField
          label="Caller"
          placeholder="Filter by caller"
          class="wide"
          value={caller}
          onChange={(text) => navigate(formatLink(["approvals"], { caller: text }), { replace: true })}
        />
      )}
      <Button
        label={notifies.value ? "Notifications are on" : "Notify me of new questions"}
        tone="small"
        isPressed={notifies.value}
        onClick={() => switchNotifications(!notifies.value)}
      />
    </div>
  );
}

interface SelectionProps {
  readonly cards: readonly ListedApproval[];
  readonly selected: ReadonlySet<string>;
  readonly onSelect: (ids: ReadonlySet<string>) => void;
  readonly onAnswered: () => void;
}

/** Denies several questions at once. */
function Selection({ cards, selected, onSelect, onAnswered }: SelectionProps) {
  const [isBusy, setBusy] = useState(false);
  const pending = cards.filter(({ state }) => state === "pending");
  const chosen = pending.filter(({ id }) => selected.has(id));
  const deny = async (): Promise<void> => {
    setBusy(true);
    for (const { id } of chosen)
      await request(`/approvals/${encodeURIComponent(id)}`, { method: "POST", body: { answer: "deny" } }).catch(
        showError,
      );
    onSelect(new Set());
    setBusy(false);
    onAnswered();
  };
  return (
    <div class="row" role="group" aria-label="Several questions">
      <Button
        label={chosen.length < pending.length ? "Select all" : "Select none"}
        tone="small"
        onClick={() => onSelect(new Set(chosen.length < pending.length ? pending.map(({ id }) => id) : []))}
      />
      <Button
        label={`Deny ${countNoun(chosen.length, "selected call")}`}
        tone="small"
        disabled={isBusy || chosen.length === 0}
        onClick={deny}
      />
    </div>
  );
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

function Answered({ approvals }: { readonly approvals: readonly ListedApproval[] }) {
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
