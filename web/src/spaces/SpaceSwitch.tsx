import { ArchiveRestore, ChevronsUpDown, CircleUserRound, IdCard, Info, LogOut, Plus, Settings, Trash2, Users } from "lucide-react";
import { Suspense, useState } from "react";
import { useSpaceId } from "../api/space";
import { lazy } from "../ui/lazy";
import { Menu, MenuChoice, MenuItem, MenuLine } from "../ui/Menu";
import type { Visit } from "../shell/useRoute";
import { words } from "../words";
import { rememberSpace } from "./choice";
import { restoreSpace, useHasSpaces, useSpace, useSpaces } from "./spaces";

const dialogs = () => import("./dialogs");
const NewSpace = lazy(() => dialogs().then((m) => ({ default: m.NewSpace })));
const Join = lazy(() => dialogs().then((m) => ({ default: m.Join })));
const SettingsDialog = lazy(() => dialogs().then((m) => ({ default: m.SettingsDialog })));
const LeaveDialog = lazy(() => dialogs().then((m) => ({ default: m.LeaveDialog })));
const DeleteDialog = lazy(() => dialogs().then((m) => ({ default: m.DeleteDialog })));
const DeletedDocuments = lazy(() => dialogs().then((m) => ({ default: m.DeletedDocuments })));
const MembersDialog = lazy(() => import("./MembersDialog"));

type Opened = "new" | "join" | "members" | "settings" | "leave" | "delete" | "deleted";

/** Goes to a space, or to the person's own chats and documents (""), and begins there the next time. */
export function goTo(space: string, visit: Visit): void {
  rememberSpace(space);
  visit({ page: "chat", id: null, space });
}

/** Chooses the space of the page, and opens what can be done with it. Nothing without an account. */
export function SpaceSwitch({ onVisit }: { onVisit: Visit }) {
  const id = useSpaceId();
  const has = useHasSpaces();
  const spaces = useSpaces() ?? [];
  const space = useSpace();
  const [opened, open] = useState<Opened>();
  if (!has) return null;
  const close = () => open(undefined);
  const manages = space?.role === "manager";
  const name = id === "" ? words.spaces.own : (space?.name ?? "…");
  const Glyph = id === "" ? CircleUserRound : Users;
  const options = [
    { value: "own", label: words.spaces.own, icon: CircleUserRound },
    ...spaces.filter((s) => !s.deleted_at).map((s) => ({ value: s.id, label: s.name, icon: Users, detail: words.spaces.roles[s.role] })),
  ];
  return (
    <>
      <Menu
        align="start"
        trigger={
          <button type="button" title={name} className="flex h-9 w-full items-center gap-2 rounded-lg px-3 text-sm font-medium transition-colors pointer-coarse:h-11 hover:bg-sunken data-popup-open:bg-sunken">
            <Glyph aria-hidden className="size-4 shrink-0 text-accent" />
            <span className="sr-only">{words.spaces.label}: </span>
            <span dir="auto" className="min-w-0 flex-1 truncate text-left">
              {name}
            </span>
            <ChevronsUpDown aria-hidden className="size-4 shrink-0 text-muted" />
          </button>
        }
      >
        <MenuChoice label={words.spaces.label} value={id || "own"} options={options} onChange={(to) => goTo(to === "own" ? "" : to, onVisit)} />
        {space && (
          <>
            <MenuLine />
            {manages && (
              <MenuItem icon={Users} onSelect={() => open("members")}>
                {words.spaces.members}
              </MenuItem>
            )}
            <MenuItem icon={manages ? Settings : Info} onSelect={() => open("settings")}>
              {manages ? words.spaces.settings : words.spaces.about}
            </MenuItem>
            {space.role !== "reader" && (
              <MenuItem icon={ArchiveRestore} onSelect={() => open("deleted")}>
                {words.spaces.deletedDocuments}
              </MenuItem>
            )}
            <MenuItem icon={LogOut} onSelect={() => open("leave")}>
              {words.spaces.leave}
            </MenuItem>
            {manages && (
              <MenuItem danger icon={Trash2} onSelect={() => open("delete")}>
                {words.spaces.delete}
              </MenuItem>
            )}
          </>
        )}
        <MenuLine />
        <MenuItem icon={Plus} onSelect={() => open("new")}>
          {words.spaces.make}
        </MenuItem>
        <MenuItem icon={IdCard} onSelect={() => open("join")}>
          {words.spaces.join}
        </MenuItem>
        {spaces
          .filter((s) => s.deleted_at)
          .map((s) => (
            <MenuItem key={s.id} icon={ArchiveRestore} onSelect={() => void restoreSpace(s.id).then((done) => done && goTo(s.id, onVisit))}>
              {words.spaces.restore(s.name)}
            </MenuItem>
          ))}
      </Menu>
      <Suspense fallback={null}>
        {opened === "new" && <NewSpace onMade={(made) => goTo(made, onVisit)} onClose={close} />}
        {opened === "join" && <Join onClose={close} />}
        {opened === "members" && space && <MembersDialog space={space} onClose={close} />}
        {opened === "settings" && space && <SettingsDialog space={space} onClose={close} />}
        {opened === "deleted" && space && <DeletedDocuments space={space} onClose={close} />}
        {opened === "leave" && space && <LeaveDialog space={space} onLeft={() => goTo("", onVisit)} onClose={close} />}
        {opened === "delete" && space && <DeleteDialog space={space} onDeleted={() => goTo("", onVisit)} onClose={close} />}
      </Suspense>
    </>
  );
}
