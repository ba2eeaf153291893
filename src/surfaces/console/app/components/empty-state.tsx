import type { ComponentChildren } from "preact";

import { Icon, type IconName } from "./icon.tsx";

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
