import { currentSpace, setSpace } from "../api/space";
import { isUUID } from "../lib/id";
import { local } from "../lib/storage";
import { chatAddress } from "../shell/useRoute";

const KEY = "palaver.space";

/** Stores the space in which the next new tab begins; empty: none. */
export const rememberSpace = (id: string): void => local.write(KEY, id || null);

/** Begins in the space that was chosen last, unless the address names a space or a chat. */
export function beginInSpace(): void {
  const id = local.read(KEY) ?? "";
  if (!isUUID(id) || currentSpace() !== "" || !/^\/(?:chat\/?)?$/.test(location.pathname)) return;
  setSpace(id);
  history.replaceState(history.state, "", chatAddress(null));
}
