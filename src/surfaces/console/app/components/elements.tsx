import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

import { escapeControls } from "../../../../shared/visible-text.ts";
import type { ProblemDetails } from "../../messages.ts";

import { showError } from "../state/toasts.ts";
import { Icon, type IconName } from "./icon.tsx";
import { Text } from "./text.tsx";

interface CardProps {
  readonly title: string;
  /** Buttons beside the title. */
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A part of a page on a surface of its own. */
export function Card({ title, actions, children }: CardProps) {
  const id = useId();
  return (
    <section class="card" aria-labelledby={id}>
      <header class="row card-header">
        <h2 id={id}>{title}</h2>
        {actions !== undefined && <div class="row">{actions}</div>}
      </header>
      {children}
    </section>
  );
}

interface ButtonProps {
  readonly label: string;
  /** An error of what it starts is reported in a toast. */
  readonly onClick?: () => unknown;
  readonly tone?: "danger" | "primary" | "quiet" | "small";
  /** Stands before the label; a quiet button shows only the icon. */
  readonly icon?: IconName;
  readonly type?: "button" | "submit";
  readonly disabled?: boolean;
  readonly autofocus?: boolean;
  readonly title?: string;
  readonly isPressed?: boolean;
}

export function Button({ label, onClick, tone, icon, type = "button", isPressed, ...attributes }: ButtonProps) {
  const run = async (): Promise<void> => void (await onClick?.());
  return (
    <button
      {...attributes}
      type={type}
      class={tone === undefined ? "button" : `button button-${tone}`}
      aria-pressed={isPressed}
      aria-label={tone === "quiet" ? label : undefined}
      onClick={() => void run().catch(showError)}
    >
      {icon !== undefined && <Icon name={icon} />}
      {tone !== "quiet" && escapeControls(label)}
    </button>
  );
}

type Tone = "bad" | "busy" | "off" | "ok" | "warn";

/** The states of servers, skills, runs, calls, questions, keys and decisions by tone; others are `off`. */
const STATES: Readonly<Record<Exclude<Tone, "off">, readonly string[]>> = {
  ok: ["active", "allow", "approved", "completed", "connected", "done", "enabled", "ok"],
  busy: ["connecting", "pending", "running"],
  warn: ["ask", "disconnected", "refused", "waiting"],
  bad: ["denied", "deny", "error", "failed", "revoked", "unknown"],
};

function getTone(state: string): Tone {
  return (["ok", "busy", "warn", "bad"] as const).find((tone) => STATES[tone].includes(state)) ?? "off";
}

interface StatusBadgeProps {
  readonly label: string;
  /** The state that has a tone; default: the label. */
  readonly state?: string;
  readonly tone?: Tone;
}

/** A state in a word, with a dot in its colour. */
export function StatusBadge({ label, state = label, tone = getTone(state) }: StatusBadgeProps) {
  return (
    <span class="badge" style={{ color: `var(--${tone})` }}>
      <span class={tone === "busy" ? "badge-dot badge-busy" : "badge-dot"} aria-hidden="true" />
      {label}
    </span>
  );
}

interface EmptyStateProps {
  readonly icon: IconName;
  readonly title: string;
  /** The next step. */
  readonly children: ComponentChildren;
}

/** Stands in place of data that does not exist yet, and says what to do next. */
export function EmptyState({ icon, title, children }: EmptyStateProps) {
  return (
    <div class="empty">
      <Icon name={icon} />
      <p class="empty-title">{title}</p>
      <div class="empty-advice">{children}</div>
    </div>
  );
}

interface ErrorNoticeProps {
  readonly error: ProblemDetails;
  readonly onRetry?: () => void;
}

/** An error with the sentence and the advice of the error table. */
export function ErrorNotice({ error, onRetry }: ErrorNoticeProps) {
  return (
    <div class="notice notice-error" role="alert">
      <Text in="p" class="notice-title" value={error.detail ?? error.title} />
      {error.fix !== "" && <Text in="p" value={error.fix} />}
      {error.suggestions !== undefined && <TextList texts={error.suggestions} />}
      {onRetry !== undefined && <Button label="Try again" onClick={onRetry} />}
    </div>
  );
}

interface TextListProps {
  readonly texts: readonly string[];
  readonly class?: string;
  readonly label?: string;
}

/** Texts that Skillgate did not write, one below the other; nothing for an empty list. */
export function TextList({ texts, class: className, label }: TextListProps) {
  if (texts.length === 0) return null;
  return (
    <ul class={className} aria-label={label}>
      {texts.map((text, at) => (
        <Text key={at} in="li" value={text} limit={1_000} />
      ))}
    </ul>
  );
}

/** Stands in place of data until it arrives. */
export function Skeleton({ lines = 3 }: { readonly lines?: number }) {
  return (
    <div class="stack" aria-busy="true" aria-label="Loading" role="status">
      {Array.from({ length: lines }, (_, index) => (
        <div key={index} class="skeleton-line" />
      ))}
    </div>
  );
}

/** A list of facts: pairs of a name and a value. Those without a value are left out. */
export function Facts({ facts }: { readonly facts: Readonly<Record<string, ComponentChildren>> }) {
  return (
    <dl class="facts">
      {Object.entries(facts).map(
        ([name, value]) =>
          value !== undefined &&
          value !== false && (
            <>
              <Text in="dt" class="muted" value={name} limit={100} />
              <dd>{value}</dd>
            </>
          ),
      )}
    </dl>
  );
}
