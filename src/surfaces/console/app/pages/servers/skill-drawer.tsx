import type { SkillDetail } from "../../../messages.ts";
import { request } from "../../api.ts";
import { Dialog } from "../../components/dialog.tsx";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { Skeleton } from "../../components/skeleton.tsx";
import { Text } from "../../components/text.tsx";
import { formatLink } from "../../router.ts";
import { useResource } from "../../state/resource.ts";
import { showError, showToast } from "../../state/toasts.ts";
import { SkillSettingsForm } from "./skill-settings-form.tsx";

interface SkillDrawerProps {
  readonly name: string;
  readonly mayWrite: boolean;
  readonly onClose: () => void;
  readonly onChange: () => void;
}

/** One skill: its switch, settings and methods. */
export function SkillDrawer({ name, mayWrite, onClose, onChange }: SkillDrawerProps) {
  const path = `/skills/${encodeURIComponent(name)}`;
  const { data, error, reload } = useResource<SkillDetail>(path, { reloadOn: ["catalog"] });
  const skill = data.value;
  const toggle = async (enabled: boolean): Promise<void> => {
    await request(`${path}/enabled`, { method: "POST", body: { enabled } });
    const undo = { label: "Undo", run: () => void toggle(!enabled).catch(showError) };
    showToast({ tone: "ok", text: `${name} is ${enabled ? "enabled" : "disabled"}`, action: undo });
    reload();
    onChange();
  };
  return (
    <Dialog form="drawer" title={name} onClose={onClose}>
      {skill === undefined && error.value !== undefined && <ErrorNotice error={error.value} onRetry={reload} />}
      {skill === undefined && error.value === undefined && <Skeleton lines={6} />}
      {skill !== undefined && (
        <>
          <p>
            <Text value={skill.description} limit={1_000} />
          </p>
          {mayWrite && (
            <div class="actions">
              <button type="button" class="button" onClick={() => void toggle(!skill.enabled).catch(showError)}>
                {skill.enabled ? "Disable" : "Enable"}
              </button>
            </div>
          )}
          <Problems problems={skill.problems} />
          {skill.settings.length > 0 && (
            <SkillSettingsForm skill={skill} path={path} mayWrite={mayWrite} onSave={reload} />
          )}
          <Methods paths={skill.methodPaths} />
        </>
      )}
    </Dialog>
  );
}

function Problems({ problems }: { readonly problems: readonly string[] }) {
  if (problems.length === 0) return null;
  return (
    <ul class="notice notice-error">
      {problems.map((problem) => (
        <li key={problem}>
          <Text value={problem} limit={600} />
        </li>
      ))}
    </ul>
  );
}

function Methods({ paths }: { readonly paths: readonly string[] }) {
  return (
    <section>
      <h3>{paths.length === 1 ? "1 method" : `${paths.length} methods`}</h3>
      <ul class="list">
        {paths.map((path) => (
          <li key={path}>
            <a href={formatLink(["methods", path])}>
              <Text value={path} limit={200} />
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}
