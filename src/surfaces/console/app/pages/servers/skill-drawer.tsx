import type { SkillDetail } from "../../../messages.ts";
import { request } from "../../api.ts";
import { Dialog } from "../../components/dialog.tsx";
import { Button, TextList } from "../../components/elements.tsx";
import { Load } from "../../components/load.tsx";
import { countOf, Text } from "../../components/text.tsx";
import { formatLink } from "../../router.ts";
import { reportChange } from "../../state/events.ts";
import { showToast } from "../../state/toasts.ts";
import { SkillSettingsForm } from "./skill-settings-form.tsx";

interface SkillDrawerProps {
  readonly name: string;
  readonly mayWrite: boolean;
  readonly onClose: () => void;
}

/** One skill: its switch, settings and methods. */
export function SkillDrawer({ name, mayWrite, onClose }: SkillDrawerProps) {
  const path = `/skills/${encodeURIComponent(name)}`;
  const toggle = async (enabled: boolean): Promise<void> => {
    await request(`${path}/enabled`, { method: "POST", body: { enabled } });
    const undo = { label: "Undo", run: () => toggle(!enabled) };
    showToast({ tone: "ok", text: `${name} is ${enabled ? "enabled" : "disabled"}`, action: undo });
    reportChange("catalog");
  };
  return (
    <Dialog form="drawer" title={name} onClose={onClose}>
      <Load<SkillDetail> path={path} reloadOn={["catalog"]}>
        {(skill, reload) => (
          <>
            <Text in="p" value={skill.description} limit={1_000} />
            {mayWrite && (
              <div class="row">
                <Button label={skill.enabled ? "Disable" : "Enable"} onClick={() => toggle(!skill.enabled)} />
              </div>
            )}
            <TextList class="notice notice-error" texts={skill.problems} />
            {skill.settings.length > 0 && (
              <SkillSettingsForm skill={skill} path={path} mayWrite={mayWrite} onSave={reload} />
            )}
            <section>
              <h3>{countOf(skill.methodPaths.length, "method")}</h3>
              <ul class="list">
                {skill.methodPaths.map((method) => (
                  <li key={method}>
                    <Text href={formatLink(["methods", method])} value={method} limit={200} />
                  </li>
                ))}
              </ul>
            </section>
          </>
        )}
      </Load>
    </Dialog>
  );
}
