import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { getJSON, post, request } from "../api/http";
import { errorText, refresh } from "../api/query";
import { onRefused, useSpaceId } from "../api/space";
import { useMe } from "../shell/me";
import { toast } from "../ui/toast";
import { words } from "../words";

export type Role = "reader" | "contributor" | "manager";
export const ROLES: readonly Role[] = ["reader", "contributor", "manager"];

/** A library and conversations that its members share. */
export interface Space {
  id: string;
  name: string;
  /** Whether searches use documents that everybody sees, too. */
  public_documents: boolean;
  /** Whether people may share their chats by public links. */
  public_links: boolean;
  /** Told to models as the operator's. */
  instructions?: string;
  /** Of new conversations; absent: the usual ones. */
  agent?: string;
  effort?: string;
  /** The tool servers whose tools answers may use; EVERY_SERVER: all. */
  tool_servers: string[];
  /** Of this person. */
  role: Role;
  created_at: string;
  /** Set while it is deleted and can be restored. */
  deleted_at?: string;
}

/** Stands for all tool servers. */
export const EVERY_SERVER = "*";

/** What a form changes of a space. */
export type SpaceForm = Partial<Pick<Space, "name" | "public_documents" | "public_links" | "instructions" | "agent" | "effort" | "tool_servers">>;

const KEY = ["spaces"];
const STALE_MS = 30_000;
const enc = encodeURIComponent;

export const spacePath = (id: string) => `/api/spaces/${enc(id)}`;

const list = { queryKey: KEY, queryFn: async ({ signal }: { signal: AbortSignal }) => (await getJSON<{ items: Space[] | null }>("/api/spaces", { signal })).items ?? [], staleTime: STALE_MS };

/** The spaces of the person, also deleted ones that they can restore; undefined while they are loaded. Without an account there are none. */
export function useSpaces(): readonly Space[] | undefined {
  const me = useMe();
  const account = me?.id !== undefined && me.anonymous !== true;
  const { data } = useQuery({ ...list, enabled: account });
  return me && !account ? none : data;
}

const none: readonly Space[] = [];

/** Whether the person has an account, without which there are no spaces. */
export function useHasSpaces(): boolean {
  const me = useMe();
  return me?.id !== undefined && !me.anonymous;
}

export const refreshSpaces = (): Promise<void> => refresh(KEY);

/** The space of the page; undefined if it shows the person's own, or while it is loaded. */
export function useSpace(): Space | undefined {
  const id = useSpaceId();
  return useSpaces()?.find((s) => s.id === id && !s.deleted_at);
}

/** Whether the person may change documents where the page is. */
export function useContributes(): boolean {
  const id = useSpaceId();
  const role = useSpace()?.role;
  return id === "" || role === "contributor" || role === "manager";
}

/** Creates a space. Returns its id. */
export async function createSpace(form: SpaceForm): Promise<string> {
  const { id } = await getJSON<Space>("/api/spaces", post(form));
  await refreshSpaces();
  return id;
}

export async function changeSpace(id: string, form: SpaceForm): Promise<void> {
  await request(spacePath(id), { ...post(form), method: "PATCH" });
  await refreshSpaces();
}

/** Deletes a space, whose name the person has typed. It can be restored for 30 days. left is called before the page learns of it from the server. */
export async function deleteSpace({ id, name }: Space, left: () => void): Promise<void> {
  await request(`${spacePath(id)}?name=${enc(name)}`, { method: "DELETE" });
  left();
  toast(words.spaces.deleted(name), { action: { label: words.common.undo, onClick: () => void restoreSpace(id) }, timeout: 10_000 });
  await refreshSpaces();
}

/** Leaves a space. left is called before the page learns of it from the server. */
export async function leaveSpace({ id, name }: Space, me: string, left: () => void): Promise<void> {
  await removeMember(id, { kind: "person", id: me });
  left();
  toast(words.spaces.youLeft(name));
  await refreshSpaces();
}

/** A person or a group. */
export interface Who {
  kind: "person" | "group";
  id: string;
}

export interface Member extends Who {
  role: Role;
  added_by?: string;
  added_at: string;
}

const membersKey = (space: string) => [...KEY, space, "members"];

export const useMembers = (space: string) => useQuery({ queryKey: membersKey(space), queryFn: async ({ signal }) => (await getJSON<{ items: Member[] | null }>(`${spacePath(space)}/members`, { signal })).items ?? [] });

/** Adds a member, or changes the role. */
export async function putMember(space: string, who: Who, role: Role): Promise<void> {
  await request(`${spacePath(space)}/members`, { ...post({ ...who, role }), method: "PUT" });
}

export async function removeMember(space: string, { kind, id }: Who): Promise<void> {
  await request(`${spacePath(space)}/members?${new URLSearchParams({ kind, id })}`, { method: "DELETE" });
}

/** Restores a deleted space. Returns whether it worked; an error is shown. */
export async function restoreSpace(id: string): Promise<boolean> {
  try {
    await request(`${spacePath(id)}/restore`, { method: "POST" });
    await refreshSpaces();
    return true;
  } catch (err) {
    toast.error(errorText(err));
    return false;
  }
}

// Leaving a space.

/** What becomes of the page's space, by the person's spaces: whether the page must leave it. */
export const mustLeave = (id: string, spaces: readonly Space[] | undefined): boolean => id !== "" && spaces !== undefined && !spaces.some((s) => s.id === id && !s.deleted_at);

const CHECK_MS = 200;
let checking: ReturnType<typeof setTimeout> | undefined;

/** Reads the person's spaces again soon after a refusal: one removal refuses many requests. */
function check(): void {
  checking ??= setTimeout(() => {
    checking = undefined;
    void refreshSpaces();
  }, CHECK_MS);
}

/** Calls leave when the person is no longer a member of the page's space, or it was deleted, with its last known name. */
export function useMembership(leave: (name: string) => void): void {
  const id = useSpaceId();
  const spaces = useSpaces();
  const gone = mustLeave(id, spaces);
  useEffect(() => {
    onRefused(check);
    return () => onRefused(() => {});
  }, []);
  const name = spaces?.find((s) => s.id === id)?.name;
  useEffect(() => {
    if (name) names.set(id, name);
  }, [id, name]);
  useEffect(() => {
    if (gone) leave(names.get(id) ?? "");
  }, [gone, id, leave]);
}

const names = new Map<string, string>();
