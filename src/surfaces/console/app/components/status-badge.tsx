interface StatusBadgeProps {
  readonly tone: "ok" | "busy" | "bad" | "off" | "warn";
  readonly label: string;
}

/** A state in a word, with a dot in its colour. */
export function StatusBadge({ tone, label }: StatusBadgeProps) {
  return (
    <span class={`badge badge-${tone}`}>
      <span class="badge-dot" aria-hidden="true" />
      {label}
    </span>
  );
}
